#pragma once

#include <cstdint>

#include "engine/tensor.h"

namespace farfield::bench {

/// Bytes a second that are read and written while this memory is copied a few times.
double copy_rate(const Tensor& x);
/// Bytes that find no room in a CPU's caches.
inline constexpr int64_t kBeyondCaches = int64_t{128} << 20;
/// The same for so many bytes, at most kBeyondCaches.
double copy_rate(int64_t n_byte, const Device& device);

}  // namespace farfield::bench
