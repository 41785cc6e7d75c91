#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/optim.h"
#include "tests/support/clipped_step.h"
#include "tests/support/largest_error.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_nag)
namespace {

using test::clipped_step;

Parameter parameter(const std::string& name, const std::vector<double>& values,
                    DType dtype = DType::f64, bool decay = true) {
  Tensor x = Tensor::from(values, {static_cast<int64_t>(values.size())}, dtype);
  x.set_requires_grad();
  return {name, x, decay};
}

void set_gradient(const Parameter& p, const std::vector<double>& values) {
  p.value.set_grad(Tensor::from(values, p.value.shape(), p.value.dtype()));
}

const std::vector<double> kRates = {1e-7, 0.25, 0.5, 0.5, 0.125, 0.1};
std::vector<double> gradient(uint64_t step) {
  return random_tensor({3}, 10 + step, -1, 1).to_vector();
}

// The classical form: a velocity u in the unit of gradients, and its look ahead,
//   u = momentum u + g,  x = x - lr (g + momentum u),
// is the same update where the rate stays; where it changes the velocity -lr u scales with it.
BOOST_AUTO_TEST_CASE(updates_are_those_of_the_classical_form) {
  for (const double decay : {0.0, 0.3}) {
    const Parameter p = parameter("x", {1, -2, 0.5}), still = parameter("y", {1, -2, 0.5});
    Nag optimizer({p, {"y", still.value, false}}, {.momentum = 0.9, .weight_decay = decay});
    std::vector<double> x{1, -2, 0.5}, u(3), y = x;
    for (size_t step = 0; step < kRates.size(); ++step) {
      const std::vector<double> g = gradient(step);
      set_gradient(p, g);
      set_gradient(still, g);
      clipped_step(optimizer, kRates[step]);
      for (size_t i = 0; i < 3; ++i) {
        u[i] = 0.9 * u[i] + g[i];
        const double down = kRates[step] * (g[i] + 0.9 * u[i]);
        x[i] = (1 - kRates[step] * decay) * x[i] - down;
        y[i] -= down;
      }
      BOOST_TEST(test::largest_error(p.value.to_vector(), x) < 1e-14);
      BOOST_TEST(test::largest_error(still.value.to_vector(), y) < 1e-14);
    }
    BOOST_TEST(optimizer.t() == 6);
  }
}

BOOST_AUTO_TEST_CASE(a_rate_of_zero_stops_and_what_follows_begins_anew) {
  const Parameter p = parameter("x", {1});
  Nag optimizer({p}, {.momentum = 0.9});
  for (const double lr : {0.1, 0.0}) {
    set_gradient(p, {1});
    clipped_step(optimizer, lr);
  }
  BOOST_TEST(std::abs(p.value.item() - (1 - 0.19)) < 1e-15);
  set_gradient(p, {1});
  clipped_step(optimizer, 0.1);
  BOOST_TEST(std::abs(p.value.item() - (1 - 0.38)) < 1e-15);
}

BOOST_AUTO_TEST_CASE(gradients_are_clipped_and_bad_numbers_change_nothing) {
  const auto after = [](double loss, double max_norm, double scale) {
    const Parameter p = parameter("x", {1, 2}, DType::f32);
    Nag optimizer({p});
    set_gradient(p, {3 * scale, 4 * scale});
    optimizer.step(0.5, {.loss = Tensor::full({}, loss, DType::f64),
                         .grad_norm = device_grad_norm({p}),
                         .max_norm = max_norm});
    return p.value.to_vector();
  };
  BOOST_TEST(test::largest_error(after(1, 0.5, 1), after(1, 0, 0.1)) < 1e-6);
  const std::vector<double> start{1, 2};
  BOOST_TEST(after(std::nan(""), 1, 1) == start);
  BOOST_TEST(after(1, 1, INFINITY) == start);
}

BOOST_AUTO_TEST_CASE(an_update_that_is_taken_back_leaves_no_trace) {
  const auto run = [](bool has_bad_step) {
    const Parameter p = parameter("x", {1, -2, 0.5});
    Nag optimizer({p});
    for (size_t step = 0; step < kRates.size(); ++step) {
      if (has_bad_step && step == 3) {
        set_gradient(p, {std::nan(""), 0, 0});
        clipped_step(optimizer, 0.75);
        optimizer.take_back();
      }
      set_gradient(p, gradient(step));
      clipped_step(optimizer, kRates[step]);
    }
    BOOST_TEST(optimizer.t() == 6);
    return p.value.to_vector();
  };
  BOOST_TEST(run(true) == run(false));
}

BOOST_AUTO_TEST_CASE(a_loaded_state_goes_on_bit_for_bit) {
  const Parameter p = parameter("x", {1, -2, 0.5}, DType::f32),
                  q = parameter("x", {0, 0, 0}, DType::f32);
  Nag first({p}), second({q});
  for (size_t step = 0; step < kRates.size(); ++step) {
    if (step == 3) {
      std::map<std::string, Tensor> state;
      for (const auto& [name, tensor] : first.state()) state[name] = tensor.clone();
      BOOST_TEST(state.count("x.momentum") == 1);
      BOOST_TEST(state.at("previous_lr").item() == kRates[2]);
      second.load_state(state, 3);
      Tensor to = q.value;
      to.assign(p.value.detach());
    }
    set_gradient(p, gradient(step));
    clipped_step(first, kRates[step]);
    if (step < 3) continue;
    set_gradient(q, gradient(step));
    clipped_step(second, kRates[step]);
  }
  BOOST_TEST(p.value.to_vector() == q.value.to_vector());
  BOOST_TEST(second.t() == 6);
}

BOOST_AUTO_TEST_CASE(options_and_states_that_do_not_fit_are_refused) {
  const Parameter p = parameter("x", {1});
  BOOST_TEST(message_of<ConfigError>([&] { Nag({p}, {.momentum = 1}); }) ==
             "[nag] expected momentum in [0, 1), got 1");
  BOOST_TEST(message_of<ConfigError>([&] { Nag({p}, {.weight_decay = -1}); }) ==
             "[nag] expected weight_decay >= 0, got -1");
  BOOST_TEST(message_of<ConfigError>([&] {
               Nag({p, p});
             }) == "[nag] expected parameters of different names, got 'x' twice");
  Nag optimizer({p});
  BOOST_TEST(message_of<IoError>([&] {
               optimizer.load_state({{"previous_lr", Tensor::zeros({1}, DType::f64)}}, 1);
             }) == "[optimizer] expected a tensor 'x.momentum', got none of that name");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
