#pragma once

#include <array>

#include "apps/cli/printout.h"
#include "data/manifest.h"
#include "data/split.h"

namespace farfield::prepare {

/// Prints the counts of each split of a corpus, a line each; "unknown" for a missing count.
void print_splits(const std::array<data::TokenCounts, 3>& counts, cli::Printout& page);
void print_splits(const data::Manifest& manifest, cli::Printout& page);

}  // namespace farfield::prepare
