#pragma once

#include <cstdint>

#include "layers/config.h"

namespace farfield::train {

/// What rates of training steps are counted in, in 10^9: 6 for each weight and token, embedding
/// rows being looked up, not multiplied, and attention's two products and five of its gradient,
/// causal half.
double step_gflop(const ModelConfig& config, int64_t batch_size);

}  // namespace farfield::train
