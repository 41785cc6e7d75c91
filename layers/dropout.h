#pragma once

#include <cstdint>
#include <string_view>

#include "engine/tensor.h"

namespace farfield {

/// Dropout of hidden states in one forward pass, for one layer. A mask is a pure function of seed,
/// draw, layer and place, so a resumed run and a block that is computed again repeat it.
struct HiddenDropout {
  double p = 0;        ///< share of elements that become 0; 0: nothing is done
  uint64_t seed = 0;   ///< of the model
  uint64_t draw = 0;   ///< number of the batch
  int64_t layer = -1;  ///< number of the block; -1 before the first

  /// x through dropout; `place` tells two of one layer apart.
  Tensor operator()(const Tensor& x, std::string_view place) const;
};

}  // namespace farfield
