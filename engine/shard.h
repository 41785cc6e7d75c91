#pragma once

#include <cstdint>

#include "engine/shape.h"

namespace farfield {

/// The part of a larger tensor that a process has: elements begin .. end - 1 along one dimension.
/// By default all of it.
struct Shard {
  int dim = 0;
  int64_t begin = 0, end = 0;
  int64_t n_whole = 0;  ///< elements along `dim` that all processes have together; 0: no shard

  /// The shard of process `rank` of n_process, for n_unit units of `unit` elements each: shards
  /// follow each other and differ by one unit at most. A single process has the whole tensor.
  static Shard of(int dim, int64_t n_unit, int64_t unit, int64_t rank, int64_t n_process) {
    if (n_process == 1) return {};
    return {dim, n_unit * rank / n_process * unit, n_unit * (rank + 1) / n_process * unit,
            n_unit * unit};
  }

  bool is_whole() const { return n_whole == 0; }
  Shape whole_of(const Shape& own) const { return is_whole() ? own : own.with(dim, n_whole); }
  Shape own_of(const Shape& whole) const {
    return is_whole() ? whole : whole.with(dim, end - begin);
  }
};

}  // namespace farfield
