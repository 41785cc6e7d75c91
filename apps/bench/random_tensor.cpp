#include "apps/bench/random_tensor.h"

#include <algorithm>
#include <vector>

#include "engine/base/random.h"
#include "engine/ops/view.h"

namespace farfield::bench {

Tensor random_tensor(const Shape& shape, std::string_view name, DType dtype, const Device& device) {
  constexpr int64_t kPeriod = (int64_t{1} << 20) + 7;  // a prime
  const int64_t n = shape.numel(), n_drawn = std::min(n, kPeriod);
  const Random source{1, stream_of(name)};
  std::vector<double> values(static_cast<size_t>(n_drawn));
  for (size_t i = 0; i < values.size(); ++i) values[i] = source.normal(i);
  const Tensor block = Tensor::from(values, {n_drawn}, dtype, device);
  if (n == n_drawn) return block.view(shape);
  std::vector<Tensor> parts(static_cast<size_t>(n / kPeriod), block);
  parts.push_back(slice(block, 0, 0, n % kPeriod));
  return concat(parts, 0).view(shape);
}

}  // namespace farfield::bench
