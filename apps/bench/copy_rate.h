#pragma once

#include "engine/tensor.h"

namespace farfield::bench {

/// Bytes a second that are read and written while this memory is copied a few times.
double copy_rate(const Tensor& x);

}  // namespace farfield::bench
