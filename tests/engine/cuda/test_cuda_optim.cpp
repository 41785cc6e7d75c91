// Updates of long lists of parameters on both devices.

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/cuda/context.h"
#include "engine/dispatch.h"
#include "engine/kernels/adamw.h"
#include "engine/kernels/nag.h"
#include "engine/optim.h"
#include "tests/support/both_devices.h"
#include "tests/support/clipped_step.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_cuda_optim)  // ctest: gpu
namespace {

// More arrays than one launch takes, sizes around pieces of 4, threads and chunks of 4096 elements,
// and empty ones.
std::vector<int64_t> many_sizes() {
  std::vector<int64_t> sizes{0, 1, 3, 4, 5, 1023, 1025, 4095, 4096, 4097, 10000, 0};
  for (int64_t i = 0; i < 250; ++i) sizes.push_back(i % 13);
  return sizes;
}

// Random values, `offset` elements after the begin of their memory.
Tensor random_at(int64_t offset, int64_t size, uint64_t seed, double low, double high,
                 const Device& device) {
  const Tensor memory = random_tensor({offset + size}, seed, low, high, DType::f32);
  return memory.to(device).view({size}, offset);
}

struct Lists {
  std::vector<AdamWTarget> targets;

  Lists(const std::vector<int64_t>& sizes, const Device& device) {
    uint64_t seed = 0;
    for (const int64_t size : sizes) {
      const auto values = [&](double low, double high) {
        const auto offset = static_cast<int64_t>(seed % 7 == 0 ? seed % 4 : 0);
        return random_at(offset, size, ++seed, low, high, device);
      };
      targets.push_back(
          {values(-1, 1), values(-2, 2), values(-0.1, 0.1), values(0, 0.1), seed % 3 != 0});
      if (seed % 5 != 0) targets.back().param.keep_rounded();
    }
  }
};

StepGuard guard_on(const Device& device, double loss, double norm, double max_norm) {
  return {Tensor::full({}, loss, DType::f64, device), Tensor::full({}, norm, DType::f64, device),
          max_norm};
}

AdamWStep step_of(const Device& device, double lr, double beta1, double beta2, double eps,
                  double weight_decay, int64_t t, const StepGuard& guard) {
  return {.beta1 = beta1,
          .beta2 = beta2,
          .eps = eps,
          .rates =
              Tensor::from(adamw_rates(lr, beta1, beta2, weight_decay, t), {3}, DType::f64, device),
          .guard = guard};
}

// What is kept of a parameter is the parameter, rounded.
template <class Target>
void check_rounded(const std::vector<Target>& targets) {
  int64_t n_kept = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    const Tensor& param = targets[i].param;
    n_kept += param.has_rounded();
    BOOST_TEST(
        same_bits(param.to(DType::bf16).to(Device{}), param.to(Device{}).clone().to(DType::bf16)),
        "array " << i);
  }
  BOOST_TEST(n_kept > 100);
  BOOST_TEST(n_kept < static_cast<int64_t>(targets.size()));
}

BOOST_AUTO_TEST_CASE(updates_of_many_parameters_agree) {
  for (const bool is_first : {true, false}) {
    const auto step = [&](const Device& device) {
      return is_first ? step_of(device, 1e-2, 0.9, 0.999, 1e-8, 0.1, 1, guard_on(device, 2, 3, 2.1))
                      : step_of(device, 3e-4, 0.8, 0.95, 1e-6, 0, 1000, guard_on(device, 2, 3, 0));
    };
    Lists there(many_sizes(), kCuda), here(many_sizes(), {});
    adamw_step(cuda_tag(kCuda), step(kCuda), there.targets);
    adamw_step(Cpu{}, step({}), here.targets);
    check_rounded(there.targets);
    check_rounded(here.targets);
    for (size_t i = 0; i < here.targets.size(); ++i) {
      const AdamWTarget &got = there.targets[i], &want = here.targets[i];
      const Tolerance tol = tolerance(DType::f32, Work::pointwise);
      for (Tensor AdamWTarget::*const part :
           {&AdamWTarget::param, &AdamWTarget::m, &AdamWTarget::v}) {
        const auto close = all_close((got.*part).to(Device{}), want.*part, tol);
        BOOST_CHECK_MESSAGE(close, "array " << i << ": " << close.message());
      }
      BOOST_TEST(same_bits(got.grad.to(Device{}), want.grad));
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_beside_a_parameter_is_touched) {
  const Tensor memory = Tensor::full({64}, 9, DType::f32, kCuda);
  memory.keep_rounded();
  const Tensor ones = Tensor::full({21}, 1, DType::f32, kCuda);
  std::vector<AdamWTarget> targets{{ones, memory.view({21}, 5), ones.clone(), ones.clone(), false}};
  adamw_step(cuda_tag(kCuda), step_of(kCuda, 1, 0.5, 0.5, 0, 0, 1, guard_on(kCuda, 2, 3, 0)),
             targets);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const std::vector<double> values = memory.to(dtype).to_vector();
    for (size_t i = 0; i < values.size(); ++i)
      BOOST_TEST((values[i] == 9) == (i < 5 || i >= 26), "element " << i << ": " << values[i]);
  }
  BOOST_TEST(memory.has_rounded());
}

BOOST_AUTO_TEST_CASE(norms_of_many_gradients_agree) {
  const auto norm_of = [](const std::vector<int64_t>& sizes, const Device& device) {
    const Lists lists(sizes, device);
    std::vector<Tensor> gradients;
    for (const AdamWTarget& target : lists.targets) gradients.push_back(target.grad);
    Tensor norm = Tensor::empty({}, DType::f64, device);
    dispatch(device, [&](auto tag) { global_norm(tag, gradients, norm); });
    return norm.item();
  };
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{}, {0}, {0, 0}, {1}, {100000}, many_sizes()}) {
    const double got = norm_of(sizes, kCuda), want = norm_of(sizes, {});
    BOOST_TEST(got == want, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(got == norm_of(sizes, kCuda));
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_shows_in_the_norm) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> values(5000, 1.0);
    values.back() = bad;
    const std::vector<Tensor> x{Tensor::full({7}, 1, DType::f32, kCuda),
                                Tensor::from(values, {5000}, DType::f32, kCuda)};
    Tensor norm = Tensor::empty({}, DType::f64, kCuda);
    global_norm(cuda_tag(kCuda), x, norm);
    BOOST_TEST(!std::isfinite(norm.item()));
  }
}

// The device decides: clipped as on the CPU, or nothing written at all.
BOOST_AUTO_TEST_CASE(guarded_updates_of_many_parameters_agree) {
  const auto run = [](const Device& device, double loss, double norm, double max_norm) {
    Lists lists(many_sizes(), device);
    const AdamWStep step =
        step_of(device, 1e-2, 0.9, 0.999, 1e-8, 0.1, 3, guard_on(device, loss, norm, max_norm));
    dispatch(device, [&](auto tag) { adamw_step(tag, step, lists.targets); });
    return lists;
  };
  const Lists start(many_sizes(), {});
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const double cases[][3] = {{2, 3, 0}, {2, 3, 0.5}, {2, 3, 7}, {nan, 3, 1}, {2, inf, 0}};
  for (const auto& [loss, norm, max_norm] : cases) {
    const Lists there = run(kCuda, loss, norm, max_norm), here = run({}, loss, norm, max_norm);
    const bool is_bad = !std::isfinite(loss) || !std::isfinite(norm);
    for (size_t i = 0; i < here.targets.size(); ++i)
      for (Tensor AdamWTarget::*const part :
           {&AdamWTarget::param, &AdamWTarget::m, &AdamWTarget::v}) {
        const Tensor got = (there.targets[i].*part).to(Device{}), want = here.targets[i].*part;
        BOOST_TEST(all_close(got, want, tolerance(DType::f32, Work::pointwise)));
        if (is_bad) BOOST_TEST(same_bits(got, start.targets[i].*part));
      }
  }
}

BOOST_AUTO_TEST_CASE(nag_agrees) {
  const auto run = [](const Device& device, double loss, double max_norm) {
    std::vector<NagTarget> targets;
    uint64_t seed = 0;
    for (const int64_t size : many_sizes()) {
      const auto values = [&] {
        const auto offset = static_cast<int64_t>(seed % 4);
        return random_at(offset, size, ++seed, -1, 1, device);
      };
      targets.push_back({values(), values(), values(), seed % 2 == 0});
      if (seed % 5 != 0) targets.back().param.keep_rounded();
    }
    const NagStep step{
        Tensor::from(nag_rates(0.5, 0.25, 0.99, 0.1), {kNagRates}, DType::f64, device),
        guard_on(device, loss, 3, max_norm)};
    dispatch(device, [&](auto tag) { nag_step(tag, step, targets); });
    return targets;
  };
  for (const auto& [loss, max_norm] : {std::pair<double, double>{2, 0.1}, {std::nan(""), 1}}) {
    const auto there = run(kCuda, loss, max_norm), here = run({}, loss, max_norm);
    check_rounded(there);
    check_rounded(here);
    for (size_t i = 0; i < here.size(); ++i)
      for (Tensor NagTarget::*const part : {&NagTarget::param, &NagTarget::m})
        BOOST_TEST(all_close((there[i].*part).to(Device{}), here[i].*part,
                             tolerance(DType::f32, Work::pointwise)));
  }
}

// Ten steps of the optimizer itself, its state there and back.
BOOST_AUTO_TEST_CASE(the_optimizer_runs_on_the_device) {
  const auto run = [](const Device& device) {
    std::vector<Parameter> parameters;
    for (const int64_t size : {5, 130, 4100}) {
      Tensor x = random_tensor({size}, 40 + static_cast<uint64_t>(size), -1, 1, DType::f32)
                     .to(device)
                     .clone();
      x.set_requires_grad();
      parameters.push_back({concat("p", size), x, size != 5});
    }
    AdamW optimizer(parameters, {.weight_decay = 0.1});
    std::vector<double> norms;
    for (uint64_t i = 0; i < 10; ++i) {
      for (const Parameter& p : parameters)
        p.value.set_grad(random_tensor(p.value.shape(), 50 + i, -1, 1, DType::f32).to(device));
      norms.push_back(clipped_step(optimizer, 1e-2, 1));
      if (i != 4) continue;
      std::map<std::string, Tensor> state;
      for (const auto& [name, tensor] : optimizer.state())
        state[name] = tensor.to(Device{}).clone();
      optimizer = AdamW(parameters, {.weight_decay = 0.1});
      optimizer.load_state(state, 5);
    }
    std::vector<Tensor> results{Tensor::from(norms, {10})};
    for (const Parameter& p : parameters) results.push_back(p.value.detach().to(Device{}));
    return results;
  };
  const auto got = run(kCuda), want = run({});
  for (size_t i = 0; i < want.size(); ++i)
    BOOST_TEST(all_close(got[i], want[i], tolerance(DType::f32, Work::reduction)));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
