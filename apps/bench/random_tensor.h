#pragma once

#include <string_view>

#include "engine/tensor.h"

namespace farfield::bench {

/// Numbers of a normal distribution, different ones for each name: constant operands let a card
/// keep a higher clock than those of training do. Beyond 2^20 they repeat with an odd period, so
/// that rows of a matrix differ.
Tensor random_tensor(const Shape& shape, std::string_view name, DType dtype, const Device& device);

}  // namespace farfield::bench
