#pragma once

#include <string_view>

#include "engine/tensor.h"

namespace farfield::bench {

/// Numbers of a normal distribution, different for each name: constant operands let a card keep a
/// higher clock than operands in training do. Beyond 2^20 numbers they repeat with an odd period,
/// so that rows of a matrix differ.
Tensor random_tensor(const Shape& shape, std::string_view name, DType dtype, const Device& device);

}  // namespace farfield::bench
