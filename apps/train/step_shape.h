#pragma once

#include <cstdint>

#include "apps/run/resolved_config.h"

namespace farfield::train {

/// The sizes of a training step, besides the model.
struct StepShape {
  int64_t batch_size = 1;  ///< sequences of the model's training length, of all processes
  int64_t accumulate = 1;  ///< pieces that they are computed in at least, a divisor of batch_size
  bool checkpointing = false;  ///< keeps block inputs only and computes blocks again
  /// Gradients are summed in n_piece() pieces that follow from the numbers above, in the order of a
  /// tree: the same bits for any number of processes that share the pieces evenly.
  bool deterministic_reduce = false;
  bool rounds_logits = false;  ///< to bfloat16 (Transformer::set_logits)

  /// Pieces of the batch, in all processes together: accumulate, or its largest multiple by a power
  /// of two that divides the batch and is at most kPieces.
  int64_t n_piece() const {
    int64_t n = accumulate;
    while (deterministic_reduce && 2 * n <= kPieces && batch_size % (2 * n) == 0) n *= 2;
    return n;
  }
  /// Number of pieces of a batch without accumulation: as many processes, or threads, can compute
  /// them.
  static constexpr int64_t kPieces = 8;
};

/// The shape of the steps of a run.
inline StepShape shape_of(const run::ResolvedConfig& config) {
  return {.batch_size = config.batch,
          .accumulate = config.accumulate,
          .checkpointing = config.checkpoint_activations,
          .deterministic_reduce = config.deterministic_reduce,
          .rounds_logits = config.rounds_logits};
}

}  // namespace farfield::train
