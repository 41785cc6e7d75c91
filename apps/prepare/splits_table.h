#pragma once

#include <array>
#include <ostream>

#include "data/manifest.h"
#include "data/split.h"

namespace farfield::prepare {

/// What each split of a corpus has, a line each; "unknown" for what is not counted.
void print_splits(const std::array<data::TokenCounts, 3>& counts, std::ostream& out);
void print_splits(const data::Manifest& manifest, std::ostream& out);

}  // namespace farfield::prepare
