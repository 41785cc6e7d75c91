#pragma once

#include "engine/distributed/group.h"

namespace farfield {

/// The processes of a job in two directions: `n_tensor` neighbouring ranks share one model (tensor
/// parallel: they communicate most, so they should be on one machine), and processes with the same
/// place in their model share the batch (data parallel). The two groups of a process have no other
/// process in common, so two threads may use them at once.
struct ProcessGrid {
  Group all, data, tensor;

  /// ConfigError unless n_tensor >= 1 divides the number of processes.
  static ProcessGrid of(const Group& all, int64_t n_tensor);
};

}  // namespace farfield
