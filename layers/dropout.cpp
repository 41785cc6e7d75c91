#include "layers/dropout.h"

#include "engine/base/error.h"
#include "engine/ops/dropout.h"

namespace farfield {

Random LayerDropout::random(std::string_view place) const {
  return {seed, stream_of(concat("dropout ", draw, ' ', layer, ' ', place))};
}

Tensor LayerDropout::masked(const Tensor& x, double share, std::string_view place) const {
  if (share == 0) return x;
  return dropout(x, share, random(place), x.numel() / n_sequence * first);
}

}  // namespace farfield
