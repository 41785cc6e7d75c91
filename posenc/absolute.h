#pragma once

#include "engine/ops/pointwise.h"

namespace farfield::posenc {

/// |x|; the two are equal at 0, so the slope there is 0.
inline Tensor absolute(const Tensor& x) { return maximum(x, -x); }

}  // namespace farfield::posenc
