#pragma once

#include <cstdint>

#include "apps/run/resolved_config.h"

namespace farfield::train {

/// What a step of training is made of, beside the model.
struct StepShape {
  int64_t batch_size = 1;      ///< sequences of the model's training length
  int64_t accumulate = 1;      ///< pieces that they are computed in, a divisor of batch_size
  bool checkpointing = false;  ///< keeps block inputs only and computes blocks again
};

/// Of the steps of a run.
inline StepShape shape_of(const run::ResolvedConfig& config) {
  return {.batch_size = config.batch,
          .accumulate = config.accumulate,
          .checkpointing = config.checkpoint_activations};
}

}  // namespace farfield::train
