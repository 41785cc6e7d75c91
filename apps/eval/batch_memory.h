#pragma once

#include <cstdint>
#include <exception>

#include "engine/dtype.h"
#include "layers/config.h"

namespace farfield::eval {

/// By default a forward pass takes at most about this many tokens.
inline constexpr int64_t kMostBatchTokens = 16384;

/// About the memory per token of a forward pass without gradients, beside the weights: in a block
/// at once 2 d_model of the residual stream and the larger of attention (its input, the product
/// with queries, keys and values, the same by heads, its output; of an encoder keys and values
/// twice) and d_model + 2 d_ff (the MLP's input, inner layer and its activation; 3 with a gate).
int64_t bytes_per_token(const ModelConfig& config, DType compute);

/// Whether memory suffices to keep copies of the weights (Transformer::keep_weight_copies()): where
/// they take at most a quarter of the available bytes. available_bytes of 0: not known, true.
bool has_room_for_copies(const ModelConfig& config, DType compute, int64_t available_bytes);

/// Tokens of a forward pass: as many as half of the available bytes hold, from 1 to
/// kMostBatchTokens. available_bytes of 0: not known, kMostBatchTokens.
int64_t choose_batch_tokens(const ModelConfig& config, DType compute, int64_t available_bytes);

/// Whether an error says that memory did not suffice, the host's or a device's.
bool is_out_of_memory(const std::exception& error);

}  // namespace farfield::eval
