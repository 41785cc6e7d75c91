#include "layers/dropout.h"

#include "engine/base/error.h"
#include "engine/base/random.h"
#include "engine/ops/dropout.h"

namespace farfield {

Tensor LayerDropout::masked(const Tensor& x, double share, std::string_view place) const {
  if (share == 0) return x;
  return dropout(x, share, {seed, stream_of(concat("dropout ", draw, ' ', layer, ' ', place))});
}

}  // namespace farfield
