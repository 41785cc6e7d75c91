#pragma once

#include <cstdint>

#include "apps/train/step_shape.h"

namespace farfield::train {

/// The micro-batches (pieces) of a batch that one process computes: the pieces of all processes
/// follow the order of the ranks.
struct OwnPieces {
  int64_t n = 1;           ///< pieces
  int64_t n_sequence = 1;  ///< of a piece
  int64_t first = 0;       ///< number of the first sequence
  int64_t n_process = 1;   ///< that have as many

  int64_t batch_size() const { return n * n_sequence; }
  double share() const { return 1.0 / static_cast<double>(n * n_process); }
  /// How many are best computed at the same time, each by a thread of its own, without taking the
  /// memory of more than a batch that is accumulated; 1: one after the other, by all threads.
  int64_t at_once(const StepShape& shape) const;
  /// ConfigError for a batch that the processes cannot share, or not with the same bits.
  static OwnPieces of(const StepShape& shape, int rank, int n_process);
};

}  // namespace farfield::train
