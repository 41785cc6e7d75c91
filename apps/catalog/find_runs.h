#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace farfield::catalog {

/// Runs below some folders.
struct FoundRuns {
  std::vector<std::filesystem::path> runs;  ///< each once, sorted
  std::vector<std::string> unreadable;  ///< a line for each folder that could not be looked into
};

/// The runs below these folders, at any depth; a folder that is a run counts itself. Nothing within
/// a run is looked at, nor what another process is still making. A link below a folder is followed
/// only if it leads to a run. IoError for a path that is no folder.
FoundRuns find_runs(const std::vector<std::string>& folders);

}  // namespace farfield::catalog
