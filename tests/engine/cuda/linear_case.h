#pragma once
// A linear layer and the way back through it, compared between the devices.

#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/ops/matmul.h"
#include "tests/support/both_devices.h"

namespace farfield::test {

using Inputs = std::vector<Tensor>;

struct LinearSizes {
  Shape rows;
  int64_t n_in, n_out;
};

// In bfloat16 the device rounds the bias as it does the weights. One that needs no rounding leaves
// both devices the same u, so that gradients, which are sums over rows of what follows from u, can
// be held to more than the noise of its last bits.
inline void linear_agrees(const LinearSizes& sizes, DType dtype, bool has_bias,
                          Activation activation) {
  std::vector<int64_t> dims(sizes.rows.begin(), sizes.rows.end());
  dims.push_back(sizes.n_in);
  Inputs inputs{random_tensor(Shape(dims), 1, -1, 1, dtype),
                random_tensor({sizes.n_out, sizes.n_in}, 2, -1, 1, DType::f32)};
  if (has_bias)
    inputs.push_back(rounded(random_tensor({sizes.n_out}, 3, -1, 1, DType::bf16), DType::f32));
  const auto f = [&](const Inputs& in) {
    return linear(in[0], in[1], has_bias ? in[2] : Tensor(), activation);
  };
  const Inputs want = run_on(Device{}, inputs, f), got = run_on(kCuda, inputs, f);
  BOOST_REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    // Gradients in float32 are sums of what was rounded to dtype.
    const auto close = all_close(got[i], want[i], tolerance(dtype, Work::product));
    BOOST_TEST((got[i].dtype() == want[i].dtype()));
    BOOST_CHECK_MESSAGE(close, dtype << ' ' << inputs[0].shape() << " to " << sizes.n_out
                                     << (has_bias ? " with bias" : "")
                                     << (activation == Activation::gelu ? ", gelu" : "")
                                     << ", output " << i << ": " << close.message());
  }
}

}  // namespace farfield::test
