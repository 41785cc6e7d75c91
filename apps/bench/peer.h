#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/analysis/timing.h"

namespace farfield::bench {

/// The n numbers above 0 that a shell command prints, as another program's measurements.
/// Throws    IoError if the command fails or prints something else
std::vector<double> numbers_of_peer(const std::string& command, int64_t n);

/// Another program that does the same work on the same texts: `command FILE ROUNDS`. FILE holds the
/// texts as JSON Lines, {"text": ...}; for each round it prints the seconds that the work took, one
/// number a line.
/// Throws    IoError as numbers_of_peer()
analysis::Samples run_peer(const std::string& command, const std::vector<std::string>& texts,
                           int64_t rounds);

}  // namespace farfield::bench
