#pragma once

#include "posenc/composition.h"

namespace farfield::posenc {

/// Refuses an encoding that a first step of training would ruin: the gradient of a table by a
/// learned parameter, where the parameter starts, is not a number that float32 can hold at some
/// distance of a training sequence, as with exp(-r/d) at 0 or 1/r^3 near 0.
/// Throws    ConfigError [posenc] with the parameter, its head and value, the gradient, its bound
///           and the length of the sequence
void require_finite_start(const Composition& asked);

}  // namespace farfield::posenc
