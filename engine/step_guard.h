#pragma once

#include "engine/tensor.h"

namespace farfield {

/// What an update hangs on that is known to its device alone, so that nobody waits to look at it.
/// Nothing is written unless loss and norm are finite.
struct StepGuard {
  Tensor loss;          ///< float64 []
  Tensor grad_norm;     ///< float64 []
  double max_norm = 0;  ///< what gradients are scaled down to before all else; 0: never
};

}  // namespace farfield
