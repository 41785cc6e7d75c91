#pragma once

#include "engine/tensor.h"

namespace farfield {

/// Rows of a table, rounded to dtype `out`; differentiable in the table.
///
/// Shapes    table [V, D], ids int32 of any shape [...] -> [..., D]
/// Throws    ShapeError when an id is not in [0, V) (not seen on CUDA), DTypeError
Tensor embedding(const Tensor& table, const Tensor& ids, DType out);

/// The same for a process that has rows first .. first + V - 1 of a table of n_row rows: other rows
/// give zeros, so that the sum over processes equals the result with the whole table.
Tensor embedding_part(const Tensor& table, const Tensor& ids, DType out, int64_t first,
                      int64_t n_row);

}  // namespace farfield
