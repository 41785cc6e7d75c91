#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/catalog/measurements.h"
#include "apps/run/folder.h"

namespace farfield::catalog {

enum class RunState {
  running,   ///< a process trains it now
  stopped,   ///< its newest checkpoint is not of the last step
  finished,  ///< that of the last step is there
  damaged,   ///< RunFacts::error says how
};
std::string name(RunState state);

/// A run in a list: out of its files, without reading weights.
struct RunFacts {
  std::string run;  ///< its folder
  RunState state = RunState::damaged;
  std::string error;  ///< of a damaged run, which has nothing of what follows
  std::string name;   ///< may be empty
  std::string posenc;
  int64_t train_len = 0;
  int64_t step = 0;   ///< done: of the newest checkpoint; of a running one also the last row
  int64_t steps = 0;  ///< asked for
  std::optional<int64_t> parameters;
  int64_t weights_bytes = 0;   ///< of the newest checkpoint
  std::optional<double> loss;  ///< of the last row of metrics.csv
  std::vector<BestPerplexity> perplexities = {};
};

/// Throws    IoError or ConfigError, naming the file, for a damaged run: its configuration, its
///           manifest, its metrics, or its newest checkpoint (sizes of files, not their hashes)
RunFacts read_facts(const run::RunFolder& run);

/// The same of a folder, where a damaged run has its error in place of facts.
RunFacts facts_of(const std::filesystem::path& folder);

}  // namespace farfield::catalog
