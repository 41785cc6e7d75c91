#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// Layer norm over the last dimension D of s = x + residual? ; weight, bias? [D] and mean?, rstd
/// [rows] in acc. sum? receives s (rounded to its dtype; the norm is taken of the rounded values);
/// y = (s - mean) rstd weight + bias. Without a mean? it is RMS norm: the mean counts as 0.
void layer_norm_forward(Cpu, const Tensor& x, const Tensor& residual, const Tensor& weight,
                        const Tensor& bias, double eps, Tensor& sum, Tensor& y, Tensor& mean,
                        Tensor& rstd);
void layer_norm_forward(Cuda, const Tensor& x, const Tensor& residual, const Tensor& weight,
                        const Tensor& bias, double eps, Tensor& sum, Tensor& y, Tensor& mean,
                        Tensor& rstd);
/// Whether the backward pass of rows of this type has the sums of ds over the rows at hand.
inline bool norm_sums_columns(Cpu, DType) { return false; }
inline bool norm_sums_columns(Cuda, DType dtype) { return dtype != DType::f64; }
/// ds = dsum? + gradient through the norm; dweight, dbias [D] in acc, as are the column_sums? of
/// ds, where norm_sums_columns().
void layer_norm_backward(Cpu, const Tensor& s, const Tensor& weight, const Tensor& mean,
                         const Tensor& rstd, const Tensor& dy, const Tensor& dsum, Tensor& ds,
                         Tensor& dweight, Tensor& dbias, Tensor& column_sums);
void layer_norm_backward(Cuda, const Tensor& s, const Tensor& weight, const Tensor& mean,
                         const Tensor& rstd, const Tensor& dy, const Tensor& dsum, Tensor& ds,
                         Tensor& dweight, Tensor& dbias, Tensor& column_sums);

}  // namespace farfield
