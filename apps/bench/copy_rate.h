#pragma once

#include <cstdint>

#include "engine/tensor.h"

namespace farfield::bench {

/// Bytes a second that are read and written while this memory is copied a few times.
double copy_rate(const Tensor& x);
/// The same for so many bytes, at most 128 MiB, which are beyond the caches.
double copy_rate(int64_t n_byte, const Device& device);

}  // namespace farfield::bench
