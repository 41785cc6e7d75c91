#pragma once

#include <cstdint>

#include "engine/shape.h"

namespace farfield {

/// Which part of a larger tensor a process has: elements begin .. end - 1 along one dimension. All
/// of it unless said otherwise.
struct Shard {
  int dim = 0;
  int64_t begin = 0, end = 0;
  int64_t n_whole = 0;  ///< elements along `dim` that all processes have together; 0: no shard

  bool is_whole() const { return n_whole == 0; }
  Shape whole_of(const Shape& own) const { return is_whole() ? own : own.with(dim, n_whole); }
  Shape own_of(const Shape& whole) const {
    return is_whole() ? whole : whole.with(dim, end - begin);
  }
};

}  // namespace farfield
