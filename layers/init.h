#pragma once

#include <cstdint>
#include <string_view>

#include "engine/tensor.h"

namespace farfield {

/// Makes initial values. Number i of a parameter is a pure function of (seed, name, i), so it
/// depends neither on the order in which layers are made nor on what else the model contains.
struct Initializer {
  uint64_t seed = 0;
  DType dtype = DType::f32;  ///< of the parameters: float32, or float64 in gradient checks
  Device device = {};

  /// N(0, std^2), rounded to float32 whatever the dtype.
  Tensor normal(std::string_view name, const Shape& shape, double std) const;
  Tensor constant(const Shape& shape, double value) const;
};

/// Standard deviation of what writes into the residual stream: init_std / sqrt(2 n_layer), as in
/// GPT-NeoX's scaled_normal.
double scaled_std(double init_std, int64_t n_layer);

}  // namespace farfield
