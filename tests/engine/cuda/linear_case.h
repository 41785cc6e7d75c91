#pragma once
// A linear layer and the way back through it, compared between the devices.

#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/dispatch.h"
#include "engine/kernels/gemm.h"
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
    // On both devices gradients in float32 are sums of numbers rounded to dtype.
    const auto close = all_close(got[i], want[i], tolerance_between(dtype, Work::product));
    BOOST_TEST((got[i].dtype() == want[i].dtype()));
    BOOST_CHECK_MESSAGE(close, dtype << ' ' << inputs[0].shape() << " to " << sizes.n_out
                                     << (has_bias ? " with bias" : "")
                                     << (activation == Activation::gelu ? ", gelu" : "")
                                     << ", output " << i << ": " << close.message());
  }
}

// x [N, I], du [N, O] and dbias, each behind so many further elements.
struct WeightGradientCase {
  int64_t n_rows, n_in, n_out;
  int64_t offset = 0;
};

// dw and dbias, each where it is wanted, on the CPU.
inline Inputs weight_gradients(const Device& device, const WeightGradientCase& of, DType dtype,
                               bool wants_dw = true, bool wants_dbias = true) {
  const auto factor = [&](uint64_t seed, int64_t columns) {
    return random_tensor({of.n_rows * columns + of.offset}, seed, -2, 2, dtype)
        .to(device)
        .clone()
        .view({of.n_rows, columns}, of.offset);
  };
  const Tensor x = factor(7, of.n_in), du = factor(8, of.n_out);
  Tensor dw, dbias;
  if (wants_dw) dw = Tensor::full({of.n_out, of.n_in}, 7, DType::f32, device);
  if (wants_dbias)
    dbias = Tensor::full({of.n_out + of.offset}, 7, DType::f32, device).view({of.n_out}, of.offset);
  dispatch(device, [&](auto tag) { linear_weight_backward(tag, x, du, dw, dbias); });
  Inputs results;
  for (const Tensor& made : {dw, dbias})
    if (made.defined()) results.push_back(made.to(Device{}));
  return results;
}

// As sums in float32: dbias of bfloat16, too, is summed and kept in that.
inline void weight_gradients_agree(const WeightGradientCase& of, DType dtype, bool wants_dw = true,
                                   bool wants_dbias = true) {
  const Inputs want = weight_gradients(Device{}, of, dtype, wants_dw, wants_dbias);
  const Inputs got = weight_gradients(kCuda, of, dtype, wants_dw, wants_dbias);
  BOOST_REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const Work work = dtype == DType::bf16 ? Work::tensor_core_sum : Work::product;
    Tolerance allowed = tolerance(DType::f32, work);
    if (dtype == DType::f32) allowed.absolute *= 4;  // products of up to 4
    const auto close = all_close(got[i], want[i], allowed);
    BOOST_CHECK_MESSAGE(close, dtype << ' ' << of.n_rows << " rows of " << of.n_in << " and "
                                     << of.n_out << ", output " << i << ": " << close.message());
  }
}

}  // namespace farfield::test
