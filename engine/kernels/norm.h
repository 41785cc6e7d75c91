#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// Layer norm over the last dimension D of s = x + residual? ; weight, bias [D] and mean, rstd
/// [rows] in acc. sum? receives s (rounded to its dtype; the norm is taken of the rounded values);
/// y = (s - mean) rstd weight + bias.
void layer_norm_forward(Cpu, const Tensor& x, const Tensor& residual, const Tensor& weight,
                        const Tensor& bias, double eps, Tensor& sum, Tensor& y, Tensor& mean,
                        Tensor& rstd);
void layer_norm_forward(Cuda, const Tensor& x, const Tensor& residual, const Tensor& weight,
                        const Tensor& bias, double eps, Tensor& sum, Tensor& y, Tensor& mean,
                        Tensor& rstd);
/// ds = dsum? + gradient through the norm; dweight, dbias [D] in acc.
void layer_norm_backward(Cpu, const Tensor& s, const Tensor& weight, const Tensor& mean,
                         const Tensor& rstd, const Tensor& dy, const Tensor& dsum, Tensor& ds,
                         Tensor& dweight, Tensor& dbias);
void layer_norm_backward(Cuda, const Tensor& s, const Tensor& weight, const Tensor& mean,
                         const Tensor& rstd, const Tensor& dy, const Tensor& dsum, Tensor& ds,
                         Tensor& dweight, Tensor& dbias);

}  // namespace farfield
