#pragma once

#include "engine/distributed/group.h"

namespace farfield {

/// The processes of a job in two directions: neighbours, `n_tensor` of them, have one model
/// together (tensor parallel: they talk most, so they are those of one machine), and processes with
/// the same place among those share the batch (data parallel). The two groups of a process have no
/// other process in common, so two threads may use them at once.
struct ProcessGrid {
  Group all, data, tensor;

  /// ConfigError unless n_tensor >= 1 divides the number of processes.
  static ProcessGrid of(const Group& all, int64_t n_tensor);
};

}  // namespace farfield
