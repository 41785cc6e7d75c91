#include "posenc/encoding.h"

#include <numeric>

#include "engine/base/error.h"

namespace farfield::posenc {

Positions Positions::plain(int64_t n_query, int64_t n_key, Phase phase, const Device& device,
                           const Draw& draw) {
  require<ShapeError>(n_query >= 1 && n_query <= n_key, "posenc",
                      "expected 1 <= n_query <= n_key, got n_query ", n_query, ", n_key ", n_key);
  Positions p{.n_query = n_query, .n_key = n_key, .phase = phase, .device = device, .draw = draw};
  p.ids.resize(static_cast<size_t>(n_key));
  std::iota(p.ids.begin(), p.ids.end(), 0.0);
  p.distance = p.ids;
  return p;
}

std::vector<double> Positions::query_ids() const {
  std::vector<double> queries;
  for (auto row = ids.begin(); row != ids.end(); row += n_key)
    queries.insert(queries.end(), row + (n_key - n_query), row + n_key);
  return queries;
}

Shape Positions::query_shape() const {
  return n_row() == 1 ? Shape{n_query} : Shape{n_row(), n_query};
}

Tensor Positions::query_table(const std::vector<double>& values, int64_t width) const {
  return Tensor::from(values, n_row() == 1 ? Shape{n_query, width} : Shape{n_row(), n_query, width},
                      DType::f64, device);
}

Tensor Positions::distances() const {
  return Tensor::from(distance, {static_cast<int64_t>(distance.size())}, DType::f64, device);
}

}  // namespace farfield::posenc
