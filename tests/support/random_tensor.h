#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/random.h"
#include "engine/tensor.h"

namespace farfield {

/// Uniform in [low, high), the same for the same seed everywhere.
inline Tensor random_tensor(const Shape& shape, uint64_t seed, double low = -1, double high = 1,
                            DType dtype = DType::f64) {
  const Random random{seed, 0x7e57};
  std::vector<double> values(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = low + (high - low) * random.uniform(i);
  return Tensor::from(values, shape, dtype);
}

/// Integers from 0 to n - 1.
inline Tensor random_ids(const Shape& shape, uint64_t seed, int32_t n) {
  const Random random{seed, 0x1d5};
  std::vector<int32_t> values(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int32_t>(random.below(i, static_cast<uint64_t>(n)));
  return Tensor::from(values, shape);
}

/// x with its values rounded to another dtype, without history.
inline Tensor rounded(const Tensor& x, DType dtype) {
  return Tensor::from(x.to_vector(), x.shape(), dtype);
}

}  // namespace farfield
