#pragma once

#include <cstdint>
#include <string>

#include "apps/sweep/scale.h"

namespace farfield::sweep {

/// A text of an experiment at a scale: {x} as the tokens of x units, {cached segments} and {chunks}
/// as the profile has them, {n sequences} as sequences_of() n.
std::string with_tokens(Scale scale, int64_t unit, const std::string& text);

}  // namespace farfield::sweep
