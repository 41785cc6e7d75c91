#pragma once

#include <cstdint>

namespace farfield::train {

/// What a step of training is made of, beside the model.
struct StepShape {
  int64_t batch_size = 1;      ///< sequences of the model's training length
  int64_t accumulate = 1;      ///< pieces that they are computed in, a divisor of batch_size
  bool checkpointing = false;  ///< keeps block inputs only and computes blocks again
};

}  // namespace farfield::train
