#pragma once

#include <cstdint>
#include <string_view>

#include "engine/tensor.h"

namespace farfield {

/// The stream of the random numbers of a model's dropout at one place: `layer` is the number of the
/// block, -1 outside of them.
uint64_t dropout_stream(uint64_t draw, int64_t layer, std::string_view place);

/// The streams of all places in the memory of a device, so that a step that is recorded once
/// (StepGraph) draws other masks for each batch.
class DropoutStreams {
 public:
  DropoutStreams(int64_t n_layer, const Device& device);
  /// Replaces the streams by the streams of this batch, for recorded work too.
  void begin(uint64_t draw);
  /// int32 [2], as dropout() takes it. Error for a place that no layer has.
  Tensor of(int64_t layer, std::string_view place) const;

 private:
  Tensor words_;  // [places, 2]
};

}  // namespace farfield
