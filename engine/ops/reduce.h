#pragma once

#include "engine/tensor.h"

namespace farfield {

// Reductions. A `dim` counts from the end when negative and is removed from the shape, or kept with
// size 1 when keepdim. Summed in the accumulation type in a fixed order. ShapeError when there is
// no such dimension.

Tensor sum(const Tensor& x);  ///< of all elements, shape []
Tensor sum(const Tensor& x, int dim, bool keepdim = false);
Tensor mean(const Tensor& x);
Tensor mean(const Tensor& x, int dim, bool keepdim = false);
/// The gradient goes to the first of equal elements. ShapeError for a dimension of size 0.
Tensor max(const Tensor& x, int dim, bool keepdim = false);
/// log(sum(exp(x))) without overflow; -infinity where all elements are. ShapeError for a dimension
/// of size 0.
Tensor logsumexp(const Tensor& x, int dim, bool keepdim = false);
/// The sum over the dimensions along which `shape` was broadcast to the shape of x: the gradient of
/// a broadcast. ShapeError if `shape` does not broadcast to the shape of x.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// True when no element is NaN or infinite. Waits for the device.
bool is_finite(const Tensor& x);

}  // namespace farfield
