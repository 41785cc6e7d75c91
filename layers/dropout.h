#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/random.h"
#include "engine/ops/dropout.h"
#include "engine/tensor.h"
#include "layers/dropout_streams.h"

namespace farfield {

/// Dropout in one forward pass, for one layer. A mask is a pure function of seed, draw, layer,
/// place and the sequence's number in its batch, so a resumed run and a recomputed block repeat it,
/// and micro-batches have the masks of the whole batch. With share 0 nothing happens.
struct LayerDropout {
  double hidden = 0;      ///< share of the embedding and of each residual branch that becomes 0
  double activation = 0;  ///< of the MLP's inner layer
  double attention = 0;   ///< of the probabilities of attention
  double adapter = 0;     ///< of the inputs of low-rank adapters
  uint64_t seed = 0;      ///< of the model
  uint64_t draw = 0;      ///< number of the batch
  int64_t layer = -1;     ///< number of the block; -1 outside of them
  /// The sequences of a pass (a micro-batch): their number, and the place of the first in the
  /// batch.
  int64_t n_sequence = 1, first = 0;
  /// The random streams of this draw on the device, for a recorded pass; or null.
  const DropoutStreams* streams = nullptr;

  /// x with a share of `hidden` dropped; `place` distinguishes the two calls of one layer.
  Tensor operator()(const Tensor& x, std::string_view place) const {
    return masked(x, hidden, place);
  }
  /// The random numbers of a place.
  Random random(std::string_view place) const;
  /// Where the device finds their stream; undefined without `streams`.
  Tensor stream(std::string_view place) const;
  /// The same with another share, of some columns.
  Tensor masked(const Tensor& x, double share, std::string_view place,
                const Columns& columns = {}) const;
};

}  // namespace farfield
