#pragma once

#include "engine/activation.h"
#include "engine/device.h"
#include "engine/gemm.h"
#include "engine/tensor.h"

namespace farfield {

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
  p.packed_b = b.x.packed_copies();
  return p;
}
void gemm(Cpu, const Gemm& product);
void gemm(Cuda, const Gemm& product);
/// Whether an accumulating product of op(A)[m, k] op(B)[k, n] gives the bits of a sum of C and the
/// product.
bool adds_exactly(Cpu, DType in, int64_t m, int64_t n, int64_t k);
inline bool adds_exactly(Cuda, DType, int64_t, int64_t, int64_t) { return false; }
/// n_batch products like `first`, whose a, b and c are this many elements apart.
void gemm_batched(Cpu, const Gemm& first, int64_t n_batch, int64_t stride_a, int64_t stride_b,
                  int64_t stride_c);
void gemm_batched(Cuda, const Gemm& first, int64_t n_batch, int64_t stride_a, int64_t stride_b,
                  int64_t stride_c);
/// y = f(x w^T + bias?) : x [N, I], w [O, I], both of one dtype, bias [O] in acc, y [N, O]. `kept?`
/// [N, O], only with an activation, gets what linear_activation_backward() needs: on the CPU in
/// float32 and float64 f'(x w^T + bias), else the argument of f. For bfloat16 the Cuda overload
/// rounds the bias first, as the weights are, and takes y from the rounded argument.
void linear_forward(Cpu, const Tensor& x, const Tensor& w, const Tensor& bias,
                    Activation activation, Tensor& kept, Tensor& y);
void linear_forward(Cuda, const Tensor& x, const Tensor& w, const Tensor& bias,
                    Activation activation, Tensor& kept, Tensor& y);
/// du = dy f' (only with an activation; du may be dy or kept itself), dbias? [O] = column sums of
/// du, in acc.
void linear_activation_backward(Cpu, const Tensor& kept, const Tensor& dy, Activation activation,
                                Tensor& du, Tensor& dbias);
void linear_activation_backward(Cuda, const Tensor& kept, const Tensor& dy, Activation activation,
                                Tensor& du, Tensor& dbias);
/// dw? [O, I] = du^T x and dbias? [O] = column sums of du, both in acc: x [N, I], du [N, O]. The
/// Cuda overload gets both from one product, where its library has that.
void linear_weight_backward(Cpu, const Tensor& x, const Tensor& du, Tensor& dw, Tensor& dbias);
void linear_weight_backward(Cuda, const Tensor& x, const Tensor& du, Tensor& dw, Tensor& dbias);
/// The same by a pass over du and a product. adds: to dw, a sum.
template <class D>
void linear_weight_backward_apart(D device, const Tensor& x, const Tensor& du, Tensor& dw,
                                  Tensor& dbias, bool adds = false) {
  Tensor same_du;
  if (dbias.defined()) linear_activation_backward(device, {}, du, Activation::none, same_du, dbias);
  if (!dw.defined()) return;
  Gemm product = product_of({du, true}, {x}, dw);
  product.accumulate = adds;
  gemm(device, product);
}

}  // namespace farfield
