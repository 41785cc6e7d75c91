#pragma once

#include "engine/tensor.h"

namespace farfield {

/// exp(x - max) / sum over the last dimension; computed in the accumulation type. A row of
/// -infinity gives NaN. ShapeError for rank 0.
Tensor softmax(const Tensor& x);
/// log(softmax(x)) without the loss of accuracy.
Tensor log_softmax(const Tensor& x);

}  // namespace farfield
