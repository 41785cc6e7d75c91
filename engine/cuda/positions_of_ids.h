#pragma once

#include "engine/dispatch.h"
#include "engine/tensor.h"

namespace farfield {

/// Where each of some ids stands, int32 on the device: id first + r has positions
/// order[begin[r]] to order[begin[r] + size[r] - 1], ascending. What an id without a position has
/// is undefined.
struct PositionsOfIds {
  Tensor slot;         ///< [n]: how often the id stood before; -1 of an id outside the range
  Tensor order;        ///< [n], as far as ids are in the range
  Tensor begin, size;  ///< [n_row]
};

/// Of ids[n] in [first, first + n_row). Beside the result, memory for n_row integers per 1024
/// positions.
PositionsOfIds positions_of_ids(Cuda device, int64_t first, int64_t n_row, const Tensor& ids);

}  // namespace farfield
