#pragma once

#include "posenc/composition.h"

namespace farfield::run {

/// The same encoding with the values that its parameters have now, all in float64 on the CPU: to
/// look at tables without the rounding of training.
posenc::Composition widened(const posenc::Composition& encoding);

}  // namespace farfield::run
