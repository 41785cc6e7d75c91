#pragma once

#include "engine/autograd.h"
#include "engine/ops/pointwise.h"

namespace farfield::posenc {

/// |x|; the two are equal at 0, so the slope there is 0.
inline Tensor absolute(const Tensor& x) { return maximum(x, -x); }

/// 1 where x (float64) is above 0, else 0; a constant. A NaN stays a NaN. Between 0 and 1e-300 it
/// is something between.
inline Tensor step(const Tensor& x) {
  const NoGrad no_grad;
  return minimum(relu(x * 1e300), 1.0);
}

}  // namespace farfield::posenc
