#pragma once

#include <functional>
#include <string>

#include "engine/kernels/gemm.h"

namespace farfield {

/// n_batch products like `first`, whose a, b and c are this many elements apart. With a bias, [n]
/// in the type of C, each row of C is a row of the product plus the bias, rounded once. With dbias,
/// [m], it is given the sums of op(A) over k, taken in float32: of dw = dy^T x the gradient of the
/// bias of y. That is for one product, not accumulated, with a transposed A, a C of float32 and no
/// bias.
struct BlasProduct {
  Gemm first;
  int64_t n_batch = 1, stride_a = 0, stride_b = 0, stride_c = 0;
  const void* bias = nullptr;
  float* dbias = nullptr;
};

/// Puts the product into the stream, by cuBLASLt: all sums in float32, and no part of float32 is
/// dropped on the way (no TF32). m, n, k and n_batch >= 1. False, and nothing done, when the
/// library has no algorithm for such a product. BackendError, with sizes and types, when it fails.
///
/// The algorithm is asked for once for each problem: sizes, strides, types, and to how many bytes
/// the arrays are aligned. So the same problem gives the same bits, in this run and in the next on
/// such a device with such a library. It is the one that the library proposes first, unless others
/// were measured (tune_products(), use_product_choices()).
///
/// `instead` has the same results by other calls, further products among them. Where products are
/// tuned it is measured beside the library's algorithms, and where it is the fastest the answer is
/// false, then and wherever such choices hold. To call it is the caller's.
bool blas_product(Cuda device, const BlasProduct& product,
                  const std::function<void()>& instead = {});

/// "product of 3 x 4 and 4 x 5, bfloat16 to float32", for messages.
std::string describe(const BlasProduct& product);

}  // namespace farfield
