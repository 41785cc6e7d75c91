#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {
class Transformer;
}

namespace farfield::eval {

/// A model as a source of scores for a protocol. ids and targets are [B, T] row by row, B = batch;
/// values are negative log likelihoods in nats per token.
struct Scorer {
  using Ids = std::vector<int32_t>;
  /// targets [B, n] of the last n places of each row, 1 <= n <= T -> [B, n]. Costs least for few.
  std::function<std::vector<double>(const Ids& ids, const Ids& targets, int64_t batch)> score;
  int64_t vocab_size = 0;
};

/// Draws of an evaluation count from here: beyond the batches of any training, so that it does not
/// repeat draws of training.
inline constexpr uint64_t kFirstDraw = uint64_t{1} << 40;

/// Rows of ids of one length, one after another: [batch, ids.size() / batch].
Tensor tensor_of(const Scorer::Ids& ids, int64_t batch, const Device& device);

/// A model as protocols see it. The model must outlive the result.
///
/// draw   number of the random draw, for encodings that draw when they are evaluated: every batch
///        takes the same draw, so an item's result does not depend on its batch, unless an encoding
///        draws for each sequence
/// watch  Session::watch, told of each batch
Scorer scorer_of(const Transformer& model, const Device& device, uint64_t draw = 0,
                 const std::function<void(int64_t n_tokens)>& watch = {});

}  // namespace farfield::eval
