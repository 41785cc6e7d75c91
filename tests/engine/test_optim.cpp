#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <memory>

#include "engine/base/parallel.h"
#include "engine/kernels/adamw.h"
#include "engine/optim.h"
#include "tests/support/all_close.h"
#include "tests/support/clipped_step.h"
#include "tests/support/golden.h"
#include "tests/support/largest_error.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_optim)  // ctest: on_cuda arm64
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

template <class E, class F>
void check_message(const F& f, const std::string& text) {
  BOOST_CHECK_EXCEPTION(f(), E, [&](const E& e) {
    if (e.what() != text) BOOST_TEST_MESSAGE("got: " << e.what());
    return e.what() == text;
  });
}

BOOST_AUTO_TEST_CASE(adam_follows_the_golden_trajectories_with_both_first_steps) {
  const auto model = test::golden("model.json");
  const auto& adam = model["adam"];
  for (const int64_t initial : {0, 1}) {
    const Parameter p = parameter("x", test::golden_numbers(adam["x0"]));
    AdamW optimizer({p}, {.adam_initial_step = initial});
    const auto& want =
        adam[initial == 0 ? "x_after_each_step" : "x_after_each_step_counter_starts_at_2"];
    for (size_t i = 0; i < want.size(); ++i) {
      set_gradient(p, test::golden_numbers(adam["grads"][i]));
      clipped_step(optimizer, adam["lr"]);
      BOOST_TEST(test::largest_error(p.value.to_vector(), test::golden_numbers(want[i])) < 1e-14);
    }
    BOOST_TEST(optimizer.t() == initial + 6);
  }
}

BOOST_AUTO_TEST_CASE(clip_factors_are_the_golden_ones) {
  const auto model = test::golden("model.json");
  for (const auto& row : model["clip"])
    BOOST_TEST(std::abs(clip_scale(row["norm"], row["max_norm"]) - row["factor"].get<double>()) <
               1e-15);
  BOOST_TEST(clip_scale(1e9, 0) == 1);
}

BOOST_AUTO_TEST_CASE(weight_decay_is_decoupled_and_spares_marked_parameters) {
  const Parameter matrix = parameter("matrix", {2}),
                  norm = parameter("norm", {2}, DType::f64, false);
  AdamW optimizer({matrix, norm}, {.weight_decay = 0.5});
  set_gradient(matrix, {0});
  set_gradient(norm, {0});
  clipped_step(optimizer, 0.1);
  BOOST_TEST(std::abs(matrix.value.item() - 2 * (1 - 0.1 * 0.5)) < 1e-15);
  BOOST_TEST(norm.value.item() == 2);
}

BOOST_AUTO_TEST_CASE(a_parameter_without_gradient_stays_as_it_is) {
  const Parameter used = parameter("used", {1}), unused = parameter("unused", {1});
  AdamW optimizer({unused, used}, {.weight_decay = 0.1});
  set_gradient(used, {1});
  clipped_step(optimizer, 0.1);
  BOOST_TEST(unused.value.item() == 1);
  BOOST_TEST(used.value.item() != 1);
  optimizer.zero_grad();
  BOOST_TEST(!used.value.grad().defined());
}

BOOST_AUTO_TEST_CASE(the_norm_covers_all_parameters_and_shows_a_gradient_that_is_not_finite) {
  const Parameter a = parameter("a", {0, 0}), b = parameter("b", {0}, DType::f32),
                  c = parameter("c", {0});
  BOOST_TEST(device_grad_norm({a, b, c}).item() == 0);
  set_gradient(a, {3, 4});
  set_gradient(b, {12});
  BOOST_TEST(device_grad_norm({a, b, c}).item() == 13);
  set_gradient(b, {std::numeric_limits<double>::infinity()});
  BOOST_TEST(std::isinf(device_grad_norm({a, b, c}).item()));
  set_gradient(b, {std::numeric_limits<double>::quiet_NaN()});
  BOOST_TEST(std::isnan(device_grad_norm({a, b, c}).item()));
}

// Two parameters with gradients of norm 13: weights, moments and count after an update(optimizer).
template <class F>
std::vector<std::vector<double>> after_an_update(DType dtype, const F& update) {
  const Parameter a = parameter("a", {1, 2}, dtype), b = parameter("b", {3}, dtype, false);
  AdamW optimizer({a, b}, {.weight_decay = 0.1});
  set_gradient(a, {3, 4});
  set_gradient(b, {12});
  update(optimizer);
  std::vector<std::vector<double>> all{a.value.to_vector(), b.value.to_vector()};
  for (const auto& [name, tensor] : optimizer.state()) all.push_back(tensor.to_vector());
  all.push_back({static_cast<double>(optimizer.t())});
  return all;
}

StepGuard guard_of(const AdamW& optimizer, double loss, double max_norm) {
  return {.loss = Tensor::full({}, loss, DType::f64),
          .grad_norm = device_grad_norm(optimizer.parameters()),
          .max_norm = max_norm};
}

// Moments included: the gradient is scaled before it reaches them.
BOOST_AUTO_TEST_CASE(an_update_has_the_bits_of_one_with_gradients_scaled_beforehand) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const double max_norm : {0.0, 0.7, 13.0, 100.0}) {
      const auto scaled = [&](double gradient) {
        const double scale = clip_scale(13, max_norm);
        return dtype == DType::f64 ? gradient * scale
                                   : static_cast<float>(gradient) * static_cast<float>(scale);
      };
      const auto want = after_an_update(dtype, [&](AdamW& optimizer) {
        set_gradient(optimizer.parameters()[0], {scaled(3), scaled(4)});
        set_gradient(optimizer.parameters()[1], {scaled(12)});
        optimizer.step(0.1, guard_of(optimizer, 5, 0));
      });
      const auto got = after_an_update(
          dtype, [&](AdamW& optimizer) { optimizer.step(0.1, guard_of(optimizer, 5, max_norm)); });
      BOOST_TEST((got == want), dtype << ", largest norm " << max_norm);
    }
}

BOOST_AUTO_TEST_CASE(an_update_writes_nothing_where_loss_or_norm_is_not_finite) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto before = after_an_update(dtype, [](AdamW&) {});
    for (const double bad : {inf, -inf, nan}) {
      const auto bad_loss = after_an_update(dtype, [&](AdamW& optimizer) {
        optimizer.step(0.1, guard_of(optimizer, bad, 1));
        BOOST_TEST(optimizer.t() == 1);
        optimizer.take_back();
      });
      BOOST_TEST((bad_loss == before));
      const auto bad_gradient = after_an_update(dtype, [&](AdamW& optimizer) {
        set_gradient(optimizer.parameters()[1], {bad});
        optimizer.step(0.1, guard_of(optimizer, 5, 1));
        optimizer.take_back();
      });
      BOOST_TEST((bad_gradient == before));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_guard_that_no_device_can_use_is_refused) {
  const Parameter p = parameter("p", {1});
  AdamW optimizer({p});
  const Tensor good = Tensor::full({}, 1, DType::f64);
  check_message<ConfigError>(
      [&] {
        optimizer.step(0.1, {good, good, -1});
      },
      "[clip] expected a largest norm >= 0 (0: no clipping), got -1");
  check_message<ShapeError>(
      [&] {
        optimizer.step(0.1, {Tensor::zeros({2}), good, 1});
      },
      "[adamw] expected loss and norm as scalars, got [2]");
  check_message<DTypeError>(
      [&] {
        optimizer.step(0.1, {good, Tensor::zeros({}), 1});
      },
      "[adamw] expected loss and norm in float64, got float32");
  BOOST_TEST(optimizer.t() == 0);
}

// Sizes around the pieces that work is cut into: many small, one large, odd tails.
BOOST_AUTO_TEST_CASE(norm_and_update_have_the_same_bits_on_one_two_and_three_threads) {
  std::vector<double> norms;
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    std::vector<Parameter> parameters;
    uint32_t state = 1;
    for (int i = 0; i < 300; ++i) {
      const size_t size = i == 150 ? 100003 : 1 + static_cast<size_t>(i) * 7 % 131;
      std::vector<double> values(size), gradient(size);
      for (size_t j = 0; j < size; ++j) {
        values[j] = static_cast<double>(state = state * 1664525u + 1013904223u) / 4294967296.0;
        gradient[j] = static_cast<double>(state = state * 1664525u + 1013904223u) / 1e9;
      }
      parameters.push_back(parameter(concat("p", i), values, DType::f32));
      set_gradient(parameters.back(), gradient);
    }
    AdamW optimizer(parameters);
    norms.push_back(clipped_step(optimizer, 0.01, 1));
    std::vector<double> all;
    for (const Parameter& p : parameters) {
      const std::vector<double> values = p.value.to_vector();
      all.insert(all.end(), values.begin(), values.end());
    }
    results.push_back(all);
  }
  set_thread_count(1);
  for (const size_t i : {1, 2}) {
    BOOST_TEST(norms[i] == norms[0]);
    BOOST_TEST((results[i] == results[0]));
  }
}

// One update in float32 against the formula in float64: relative error of a few roundings.
BOOST_AUTO_TEST_CASE(every_element_of_a_long_tensor_is_updated) {
  const int64_t n = 40003;
  std::vector<double> values(static_cast<size_t>(n)), gradient(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<double>(i));
    gradient[i] = std::cos(3.0 * static_cast<double>(i));
  }
  const Parameter single = parameter("x", values, DType::f32), wide = parameter("x", values);
  set_gradient(single, gradient);
  set_gradient(wide, gradient);
  for (const Parameter& p : {single, wide}) {
    AdamW optimizer({p});
    clipped_step(optimizer, 0.01);
  }
  BOOST_TEST(test::largest_error(single.value.to_vector(), wide.value.to_vector()) < 2e-7);
  for (size_t i = 0; i < values.size(); i += 997)
    BOOST_TEST(std::abs(std::abs(wide.value.to_vector()[i] - values[i]) - 0.01) < 1e-6);
}

BOOST_AUTO_TEST_CASE(loaded_moments_continue_exactly) {
  const auto run = [](bool through_state) {
    const Parameter p = parameter("p", {1, 2, 3});
    AdamW first({p});
    set_gradient(p, {1, 2, 3});
    clipped_step(first, 0.1);
    set_gradient(p, {3, -2, 1});
    if (!through_state) {
      clipped_step(first, 0.1);
    } else {
      std::map<std::string, Tensor> saved;
      for (const auto& [name, tensor] : first.state()) saved.emplace(name, tensor.clone());
      AdamW second({p});
      second.load_state(saved, first.t());
      clipped_step(second, 0.1);
    }
    return p.value.to_vector();
  };
  BOOST_TEST(run(true) == run(false));
}

BOOST_AUTO_TEST_CASE(state_of_another_model_is_refused_and_changes_nothing) {
  const Parameter p = parameter("p", {1, 2});
  AdamW optimizer({p});
  BOOST_TEST(optimizer.state()[0].first == "p.exp_avg");
  BOOST_TEST(optimizer.state()[1].first == "p.exp_avg_sq");
  const Tensor good = Tensor::full({2}, 5, DType::f64);
  check_message<IoError>(
      [&] {
        optimizer.load_state({{"p.exp_avg", good}}, 1);
      },
      "[optimizer] expected a tensor 'p.exp_avg_sq', got none of that name");
  check_message<IoError>(
      [&] {
        optimizer.load_state(
            {{"p.exp_avg", good}, {"p.exp_avg_sq", Tensor::full({3}, 0, DType::f64)}}, 1);
      },
      "[optimizer] expected 'p.exp_avg_sq' of float64 [2], got float64 [3]; is it of another "
      "model?");
  check_message<IoError>(
      [&] {
        optimizer.load_state({{"p.exp_avg", good}, {"p.exp_avg_sq", good}}, -1);
      },
      "[optimizer] expected a count of updates >= 0, got -1");
  BOOST_TEST(optimizer.state()[0].second.to_vector() == std::vector<double>({0, 0}));
  BOOST_TEST(optimizer.t() == 0);
}

// Sizes around a piece of work; the last is not kept rounded.
template <class Make>
void check_kept_rounded(const Make& make) {
  std::vector<Parameter> parameters;
  for (const int64_t size : {1, 37, 16384, 40001, 12}) {
    Tensor x = random_tensor({size}, static_cast<uint64_t>(size), -2, 2, DType::f32);
    if (size != 12) x.keep_rounded();
    parameters.push_back({std::to_string(size), x.set_requires_grad(), size % 2 == 0});
  }
  const auto optimizer = make(parameters);
  const auto step = [&](double loss) {
    for (const Parameter& p : parameters)
      p.value.set_grad(random_tensor(p.value.shape(), 7, -1, 1, DType::f32));
    optimizer->step(0.1, {.loss = Tensor::full({}, loss, DType::f64),
                          .grad_norm = device_grad_norm(parameters),
                          .max_norm = 1});
  };
  const auto check = [&](bool is_first_kept) {
    for (const Parameter& p : parameters) {
      const Tensor want = p.value.clone().to(DType::bf16);
      BOOST_TEST(same_bits(p.value.to(DType::bf16), want), p.name);
      BOOST_TEST(p.value.has_rounded() ==
                 (p.name != "12" && (is_first_kept || &p != parameters.data())));
    }
  };
  for (int i = 0; i < 3; ++i) {
    const Tensor before = parameters[3].value.clone();
    step(i == 1 ? std::numeric_limits<double>::quiet_NaN() : 2);  // then neither is written
    BOOST_TEST(!same_bits(parameters[3].value, before) == (i != 1));
    check(true);
  }
  parameters[0].value.data<float>()[0] = 3;
  step(2);  // writes all the same
  check(false);
  parameters[0].value.keep_rounded();
  step(2);
  check(true);
}

BOOST_AUTO_TEST_CASE(an_update_writes_what_is_kept_rounded) {
  check_kept_rounded([](const std::vector<Parameter>& parameters) {
    return std::make_unique<AdamW>(parameters, AdamWOptions{.weight_decay = 0.1});
  });
  check_kept_rounded([](const std::vector<Parameter>& parameters) {
    return std::make_unique<Nag>(parameters, NagOptions{.momentum = 0.9, .weight_decay = 0.1});
  });
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_refused) {
  const Parameter p = parameter("p", {1});
  check_message<ConfigError>([&] { AdamW({p}, {.beta1 = 1}); },
                             "[adamw] expected beta1 in [0, 1), got 1");
  check_message<ConfigError>([&] { AdamW({p}, {.eps = -1}); }, "[adamw] expected eps >= 0, got -1");
  check_message<ConfigError>(
      [&] {
        AdamW({p, p});
      },
      "[adamw] expected parameters of different names, got 'p' twice");
  check_message<DTypeError>([&] { AdamW({parameter("h", {1}, DType::bf16)}); },
                            "[adamw] expected float32 or float64 for 'h', got bfloat16");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
