#pragma once

#include "engine/tensor.h"

namespace farfield {

/// Rows of a table, rounded to dtype `out`; differentiable in the table.
///
/// Shapes    table [V, D], ids int32 of any shape [...] -> [..., D]
/// Throws    ShapeError when an id is not in [0, V) (not seen on CUDA), DTypeError
Tensor embedding(const Tensor& table, const Tensor& ids, DType out);

}  // namespace farfield
