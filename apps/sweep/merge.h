#pragma once

#include <cstdint>
#include <filesystem>

#include "apps/sweep/folder.h"

namespace farfield::sweep {

/// Counts of a merge among the cells of the other folder.
struct Merged {
  int64_t n_new = 0;    ///< cells that were not there
  int64_t n_more = 0;   ///< cells that were, with fewer measurements
  int64_t n_there = 0;  ///< nothing new
};

/// Brings the results of a sweep on another machine into a folder, with the experiments and seeds
/// that it was of; weights and text stay where they are. `into` may be new: it becomes a sweep like
/// the other.
///
/// Everything is compared before anything is written. ConfigError where scale, device, order of
/// documents, a corpus or a grid of the user's own differs, where a cell belongs to no experiment
/// of the two, where a measurement has other parameters or other predicted tokens than another cell
/// of the same seed, and where both have a number and it differs. IoError for a folder that is no
/// sweep, and for damaged results.
Merged merge(const std::filesystem::path& into, const std::filesystem::path& from);

}  // namespace farfield::sweep
