#pragma once

#include <cstdint>

#include "layers/config.h"

namespace farfield::train {

/// Floating-point operations of a training step, in 10^9, for rates: 6 for each weight and token
/// (without embedding rows, which are looked up), and attention's two products and the five of its
/// gradient: of the causal half, or of all pairs of an encoder.
double step_gflop(const ModelConfig& config, int64_t batch_size);

/// The same of a forward pass over sequences of `length` tokens: 2 for each weight and token, and
/// attention's two products.
double forward_gflop(const ModelConfig& config, int64_t batch_size, int64_t length);

}  // namespace farfield::train
