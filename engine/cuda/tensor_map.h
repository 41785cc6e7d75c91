#pragma once

#include <cuda.h>

#include <cstdint>

#include "engine/dtype.h"

namespace farfield {

/// The description of a tensor in device memory for TMA copies (copy_bulk.cuh): address, sizes and
/// strides, and the box that one copy takes. A kernel gets it as a parameter that is `const
/// __grid_constant__`.
///
/// Source    CUDA driver API, "Tensor Map Object Management"
using TensorMap = CUtensorMap;

/// An axis of a tensor: its size, and elements from one index to the next.
struct TensorAxis {
  int64_t size, stride;
};

/// Rows of n_column elements, in boxes of kSwizzledColumns (swizzle.h) by n_row that lie in shared
/// memory as swizzled rows, from a multiple of kSwizzledAlignment bytes on. A coordinate is
/// {column, row, head, batch}; elements outside are 0.
///
/// Errors    BackendError when the driver refuses it: `first` is aligned to 16 bytes, strides are
///           multiples of 8 elements, sizes at least 1
TensorMap map_of_rows(const BFloat16* first, int64_t n_column, const TensorAxis& row,
                      const TensorAxis& head, const TensorAxis& batch, int n_row);

/// Most elements of a box along an axis.
inline constexpr int kMostOfBox = 256;

/// n floats, in boxes of `size` floats, which lie in shared memory from a multiple of 128 bytes on;
/// size is a multiple of 4 and at most kMostOfBox. A coordinate must be a multiple of 4, too: the
/// H200 accepts no other, though the documentation does not say so. Elements outside are 0.
///
/// Errors    BackendError when the driver refuses it: `first` is aligned to 16 bytes
TensorMap map_of_floats(const float* first, int64_t n, int size);

}  // namespace farfield
