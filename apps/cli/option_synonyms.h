#pragma once

#include <span>

#include "engine/base/did_you_mean.h"

namespace farfield::cli {

/// Names of options in other programs, for suggestions: one table for all our programs, since a
/// program suggests only options that it has.
std::span<const Synonym> option_synonyms();

}  // namespace farfield::cli
