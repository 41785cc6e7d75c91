#include "layers/dropout.h"

#include "engine/base/error.h"
#include "engine/base/random.h"
#include "engine/ops/dropout.h"

namespace farfield {

Tensor HiddenDropout::operator()(const Tensor& x, std::string_view place) const {
  if (p == 0) return x;
  return dropout(x, p, {seed, stream_of(concat("dropout ", draw, ' ', layer, ' ', place))});
}

}  // namespace farfield
