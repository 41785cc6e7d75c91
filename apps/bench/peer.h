#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/analysis/timing.h"

namespace farfield::bench {

/// Another program that does the same work on the same texts: `command FILE ROUNDS`. FILE holds the
/// texts as JSON Lines, {"text": ...}; for each round it prints the seconds that the work took, one
/// number a line.
/// Throws    IoError if the program fails or prints something else
analysis::Samples run_peer(const std::string& command, const std::vector<std::string>& texts,
                           int64_t rounds);

}  // namespace farfield::bench
