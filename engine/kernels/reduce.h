#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// y[outer, inner] = sum over n of x[outer, n, inner]. x is read as these three sizes, whatever its
/// rank.
void sum_forward(Cpu, const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& y);
void sum_forward(Cuda, const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& y);
/// y[outer, inner] = max over n; argmax i32 [outer, inner], the first of equals.
void max_forward(Cpu, const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& y,
                 Tensor& argmax);
void max_forward(Cuda, const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& y,
                 Tensor& argmax);
/// dx[outer, argmax[outer, inner], inner] = dy[outer, inner], the rest 0.
void max_backward(Cpu, const Tensor& argmax, const Tensor& dy, int64_t outer, int64_t n,
                  int64_t inner, Tensor& dx);
void max_backward(Cuda, const Tensor& argmax, const Tensor& dy, int64_t outer, int64_t n,
                  int64_t inner, Tensor& dx);
/// True when no element is NaN or infinite.
bool is_finite(Cpu, const Tensor& x);
bool is_finite(Cuda, const Tensor& x);

}  // namespace farfield
