#pragma once

#include <span>
#include <vector>

#include "engine/tensor.h"

namespace farfield {

// Other arrangements of the same elements, of any dtype; differentiable for floating ones.

/// Shares storage. ShapeError unless the number of elements stays.
Tensor reshape(const Tensor& x, const Shape& shape);
/// A copy: dimension i of the result is dimension order[i] of x. ShapeError unless order names each
/// dimension once.
Tensor permute(const Tensor& x, const std::vector<int>& order);
/// Elements [begin, end) of a dimension. Shares storage when nothing outside lies in between (the
/// first dimension), else a copy. ShapeError unless 0 <= begin <= end <= size.
Tensor slice(const Tensor& x, int dim, int64_t begin, int64_t end);
/// Overwrites elements [begin, begin + x.dim(dim)) of a dimension of y by x. Not differentiable.
/// ShapeError unless x has the shape of these elements, DTypeError and DeviceError for a tensor of
/// another kind. x and y must not share these elements.
void write_slice(Tensor& y, int dim, int64_t begin, const Tensor& x);
/// One after the other along a dimension. ShapeError when there is none or other sizes differ,
/// DTypeError for unequal dtypes.
Tensor concat(const std::vector<Tensor>& parts, int dim);

}  // namespace farfield
