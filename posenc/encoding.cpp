#include "posenc/encoding.h"

#include <numeric>

#include "engine/base/error.h"

namespace farfield::posenc {

Positions Positions::plain(int64_t n_query, int64_t n_key, Phase phase, const Device& device) {
  require<ShapeError>(n_query >= 1 && n_query <= n_key, "posenc",
                      "expected 1 <= n_query <= n_key, got n_query ", n_query, ", n_key ", n_key);
  Positions p{n_query, n_key, phase, device, std::vector<double>(static_cast<size_t>(n_key)), {}};
  std::iota(p.ids.begin(), p.ids.end(), 0.0);
  p.distance = p.ids;
  return p;
}

Tensor Positions::distances() const {
  return Tensor::from(distance, {static_cast<int64_t>(distance.size())}, DType::f64, device);
}

}  // namespace farfield::posenc
