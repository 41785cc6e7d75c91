#pragma once

#include <string>

#include "posenc/registry.h"

namespace farfield::posenc {

/// example_of(), acting in training too where an encoding acts at test time alone unless told
/// otherwise: rerope(at=both).
std::string training_example_of(const posenc::Row& row);

}  // namespace farfield::posenc
