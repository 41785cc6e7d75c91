#pragma once

#include <string>

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// C[m, n] = op(A)[m, k] op(B)[k, n] (+ C when accumulate) on raw row-major buffers; op transposes
/// when its flag is set. lda, ldb, ldc: elements from one stored row to the next. A and B share a
/// dtype; C has it too, or float32 when they are bfloat16. Sums in acc. The result does not depend
/// on the number of threads.
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  const void* a = nullptr;
  int64_t lda = 0;
  const void* b = nullptr;
  int64_t ldb = 0;
  void* c = nullptr;
  int64_t ldc = 0;
  DType in = DType::f32, out = DType::f32;
  bool accumulate = false;
};
/// A stored matrix, or a stack of them, as a factor: its last two dimensions.
struct Factor {
  const Tensor& x;
  bool transposed = false;
};
/// c = op(a) op(b), of stacks the first.
inline Gemm product_of(const Factor& a, const Factor& b, Tensor& c) {
  Gemm p;
  p.m = a.x.dim(a.transposed ? -1 : -2);
  p.n = b.x.dim(b.transposed ? -2 : -1);
  p.k = a.x.dim(a.transposed ? -2 : -1);
  p.transpose_a = a.transposed;
  p.transpose_b = b.transposed;
  p.a = a.x.raw_data();
  p.lda = a.x.dim(-1);
  p.b = b.x.raw_data();
  p.ldb = b.x.dim(-1);
  p.c = c.raw_data();
  p.ldc = p.n;
  p.in = a.x.dtype();
  p.out = c.dtype();
  return p;
}
void gemm(Cpu, const Gemm& product);
void gemm(Cuda, const Gemm& product);
/// n_batch products like `first`, whose a, b and c are this many elements apart.
void gemm_batched(Cpu, const Gemm& first, int64_t n_batch, int64_t stride_a, int64_t stride_b,
                  int64_t stride_c);
void gemm_batched(Cuda, const Gemm& first, int64_t n_batch, int64_t stride_a, int64_t stride_b,
                  int64_t stride_c);
/// The library of this build's matrix products on the CPU: "oneDNN 2.6.3", "Eigen 3.4.0".
std::string gemm_library();
/// The highest instruction set that it uses in this process: "avx512_core_amx", "avx2".
std::string gemm_instruction_set();
/// How products of bfloat16 are computed in this process: "by oneDNN", "widened to float32: the
/// processor has no AMX".
std::string gemm_bf16();

/// What linear_forward does to each output panel while it is in cache.
enum class Activation { none, gelu };
/// u = x w^T + bias? : x [N, I], w [O, I], both of one dtype, bias [O] in acc, u [N, O].
/// With an activation, y = f(u) is written as well; without, y is undefined. For bfloat16 the Cuda
/// overload rounds the bias first, as the weights are, and takes y from the rounded u.
void linear_forward(Cpu, const Tensor& x, const Tensor& w, const Tensor& bias,
                    Activation activation, Tensor& u, Tensor& y);
void linear_forward(Cuda, const Tensor& x, const Tensor& w, const Tensor& bias,
                    Activation activation, Tensor& u, Tensor& y);
/// du = dy f'(u) (only with an activation; du may be dy or u itself), dbias? [O] = column sums of
/// du, in acc.
void linear_activation_backward(Cpu, const Tensor& u, const Tensor& dy, Activation activation,
                                Tensor& du, Tensor& dbias);
void linear_activation_backward(Cuda, const Tensor& u, const Tensor& dy, Activation activation,
                                Tensor& du, Tensor& dbias);

}  // namespace farfield
