#pragma once

#include "engine/tensor.h"

namespace farfield {

/// A number of one next-token distribution p whose gradient says how far back a model looks.
enum class InputScalar {
  nll,               ///< -log p of the target; the gradient of p and of log p points the same way
  target_logit,      ///< the score of the target before the softmax
  max_logit,         ///< the largest score; the target does not matter
  negative_entropy,  ///< sum over the vocabulary of p log p; the target does not matter
};

/// The number for each row, differentiable: logits [B, V], targets int32 [B] -> [B].
/// Throws    ShapeError when they do not fit, or for a target outside 0 .. V - 1
Tensor scalar_of(const Tensor& logits, const Tensor& targets, InputScalar what);

}  // namespace farfield
