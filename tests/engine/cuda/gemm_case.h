#pragma once
// A product of matrices that can be taken on both devices.

#include "engine/dispatch.h"
#include "engine/kernels/gemm.h"
#include "tests/support/both_devices.h"

namespace farfield::test {

struct GemmCase {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  int64_t gap_a = 0, gap_b = 0, gap_c = 0;  // elements between stored rows
  int64_t n_batch = 1, gap_batch = 0;
};

// Operands of a case and what is in C before, on the CPU.
struct GemmOperands {
  Gemm p;
  int64_t n_batch, stride_a, stride_b, stride_c;
  Tensor a, b, c;

  GemmOperands(const GemmCase& s, DType in, DType out, bool accumulate) : n_batch(s.n_batch) {
    const int64_t rows_a = s.transpose_a ? s.k : s.m, rows_b = s.transpose_b ? s.n : s.k;
    p = Gemm{.m = s.m,
             .n = s.n,
             .k = s.k,
             .transpose_a = s.transpose_a,
             .transpose_b = s.transpose_b,
             .in = in,
             .out = out,
             .accumulate = accumulate};
    p.lda = (s.transpose_a ? s.m : s.k) + s.gap_a;
    p.ldb = (s.transpose_b ? s.k : s.n) + s.gap_b;
    p.ldc = s.n + s.gap_c;
    stride_a = rows_a * p.lda + s.gap_batch;
    stride_b = rows_b * p.ldb + s.gap_batch;
    stride_c = s.m * p.ldc + s.gap_batch;
    a = random_tensor({s.n_batch * stride_a}, 1, -1, 1, in);
    b = random_tensor({s.n_batch * stride_b}, 2, -1, 1, in);
    c = random_tensor({s.n_batch * stride_c}, 3, -1, 1, out);
  }

  // All of C after the product, gaps included, on the CPU.
  Tensor result(const Device& device) const {
    const Tensor a_there = a.to(device), b_there = b.to(device);
    Tensor c_there = c.clone().to(device);
    Gemm product = p;
    product.a = a_there.raw_data();
    product.b = b_there.raw_data();
    product.c = c_there.raw_data();
    dispatch(device, [&](auto tag) {
      if (n_batch == 1)
        gemm(tag, product);
      else
        gemm_batched(tag, product, n_batch, stride_a, stride_b, stride_c);
    });
    return c_there.to(Device{});
  }
};

}  // namespace farfield::test
