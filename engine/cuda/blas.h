#pragma once

#include <functional>
#include <string>

#include "engine/kernels/gemm.h"

namespace farfield {

/// n_batch products like `first`, whose a, b and c are this many elements apart. With a bias, [n]
/// in the type of C, each row of C is a row of the product plus the bias, rounded once. With dbias,
/// [m], it is given the sums of op(A) over k, taken in float32: of dw = dy^T x the gradient of the
/// bias of y. dbias needs a single product, not accumulated, with a transposed A, a C of float32
/// and no bias.
struct BlasProduct {
  Gemm first;
  int64_t n_batch = 1, stride_a = 0, stride_b = 0, stride_c = 0;
  const void* bias = nullptr;
  float* dbias = nullptr;
};

/// Queues the product in the stream, by cuBLASLt: all sums in float32, without TF32. m, n, k and
/// n_batch >= 1. Returns false, and does nothing, if the library has no algorithm for such a
/// product. BackendError, with sizes and types, if it fails.
///
/// The algorithm is chosen once for each problem: sizes, strides, types and alignment of the
/// arrays. So the same problem gives the same bits, in this run and in later runs on the same kind
/// of device with the same library. It is the library's first proposal, unless algorithms were
/// measured (tune_products(), use_product_choices()).
///
/// `instead` computes the same results by other calls, which may include other products. Tuning
/// measures it beside the library's algorithms. If it is the fastest, this returns false, then and
/// under these choices, and the caller calls `instead`.
bool blas_product(Cuda device, const BlasProduct& product,
                  const std::function<void()>& instead = {});

/// "product of 3 x 4 and 4 x 5, bfloat16 to float32", for messages.
std::string describe(const BlasProduct& product);

}  // namespace farfield
