#pragma once

#include "engine/base/error.h"

namespace farfield::posenc {

/// A length with positions that an encoding has no values for, such as those beyond a learned
/// table. Shorter inputs may still be asked for; any other ConfigError is of the request itself.
struct PositionError : ConfigError {
  using ConfigError::ConfigError;
};

}  // namespace farfield::posenc
