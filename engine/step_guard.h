#pragma once

#include "engine/tensor.h"

namespace farfield {

/// Conditions of an update that only its device knows, so that the host need not wait for them.
/// Nothing is written unless loss and norm are finite.
struct StepGuard {
  Tensor loss;          ///< float64 []
  Tensor grad_norm;     ///< float64 []
  double max_norm = 0;  ///< gradients are first clipped to this norm; 0: never
};

}  // namespace farfield
