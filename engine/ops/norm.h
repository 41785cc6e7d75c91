#pragma once

#include "engine/tensor.h"

namespace farfield {

/// y = (x - mean) / sqrt(variance + eps) weight + bias over the last dimension.
///
/// Shapes    x [..., D], weight, bias [D] in the accumulation type of x -> [..., D]; bias may be
///           undefined: 0
/// Throws    ShapeError, DTypeError
/// Accuracy  statistics in the accumulation type, in two passes over the row: the variance does not
///           cancel when the mean is large
/// Source    Ba, Kiros and Hinton 2016, arXiv:1607.06450
Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps);

/// y = x / sqrt(mean(x^2) + eps) weight over the last dimension; same rules, without a bias.
/// Source    Zhang and Sennrich 2019, "Root Mean Square Layer Normalization", arXiv:1910.07467,
///           equation 4
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps);

struct SumAndNorm {
  Tensor sum;     ///< x + residual, in the dtype of x
  Tensor normed;  ///< the norm of sum
};
/// The residual sum and its norm in one pass over memory; same rules.
SumAndNorm add_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& weight,
                          const Tensor& bias, double eps);
SumAndNorm add_rms_norm(const Tensor& x, const Tensor& residual, const Tensor& weight, double eps);

}  // namespace farfield
