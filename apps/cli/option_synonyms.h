#pragma once

#include <span>

#include "engine/base/did_you_mean.h"

namespace farfield::cli {

/// What options of the programs are called elsewhere, for suggestions: one table for all programs,
/// since a word is suggested only where the program has it.
std::span<const Synonym> option_synonyms();

}  // namespace farfield::cli
