#pragma once
// A function of tensors on the CPU and on the device cuda.

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/autograd.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield::test {

inline constexpr Device kCuda{Device::Kind::cuda, 0};

/// f(inputs) on a device and, when it has any, the gradients of the inputs; all on the CPU.
/// Floating inputs ask for a gradient.
template <class F>
std::vector<Tensor> run_on(const Device& device, const std::vector<Tensor>& inputs, const F& f) {
  std::vector<Tensor> moved;
  for (const Tensor& x : inputs) {
    moved.push_back(x.clone().to(device));
    if (is_float(x.dtype())) moved.back().set_requires_grad();
  }
  const Tensor y = f(moved);
  BOOST_TEST((y.device() == device));
  std::vector<Tensor> results{y.detach().to(Device{})};
  if (!y.needs_grad()) return results;
  backward(y, random_tensor(y.shape(), 99, -1, 1, y.dtype()).to(device));
  for (const Tensor& x : moved)
    if (x.requires_grad()) results.push_back(x.grad().defined() ? x.grad().to(Device{}) : Tensor());
  return results;
}

/// Checks that f gives the same result and gradients on both devices, but for the rounding that
/// this kind of work allows. In float32 a product of bfloat16 is a sum by tensor cores.
template <class F>
void devices_agree(const std::string& what, const std::vector<Tensor>& inputs, Work work,
                   const F& f) {
  const std::vector<Tensor> want = run_on(Device{}, inputs, f), got = run_on(kCuda, inputs, f);
  BOOST_REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    BOOST_REQUIRE_MESSAGE(got[i].defined() == want[i].defined(), what << ", gradient " << i);
    if (!got[i].defined()) continue;
    BOOST_TEST((got[i].dtype() == want[i].dtype()));
    const bool is_sum =
        work == Work::product && want[i].dtype() == DType::f32 && inputs[0].dtype() == DType::bf16;
    const auto close = all_close(
        got[i], want[i], tolerance_between(want[i].dtype(), is_sum ? Work::tensor_core_sum : work));
    const std::string part = i == 0 ? "result" : concat("gradient ", i - 1);
    BOOST_CHECK_MESSAGE(close, what << ", " << part << ": " << close.message());
  }
}

}  // namespace farfield::test
