#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "apps/run/settings.h"

namespace farfield::run {

/// Size and hash of a file at the time of a checkpoint.
struct FileRecord {
  int64_t bytes = 0;
  std::string hash;  ///< XXH3-128; empty: not recorded
};

/// The data of a checkpoint besides its tensors: state.json.
struct TrainState {
  int64_t step = 0;              ///< steps done
  int64_t tokens = 0;            ///< targets scored so far
  int64_t optimizer_t = 0;       ///< Optimizer::t()
  double time_s = 0;             ///< spent training so far
  std::vector<int64_t> skipped;  ///< steps left out because they were not finite
  std::string data_hash;         ///< of the corpus
  Settings config;               ///< the settings that the weights depend on
  FileRecord metrics = {};  ///< the rows of metrics.csv up to this step; optional in state.json,
                            ///< since old runs lack it
};

/// state.json: the state, the files beside it by name, and a hash of all of it.
std::string train_state_text(const TrainState& state,
                             const std::map<std::string, FileRecord>& files);

struct StateFile {
  TrainState state;
  std::map<std::string, FileRecord> files;
};

/// Reads the text of train_state_text(). A file can be forged with a right hash, so each value is
/// checked: counts are whole numbers within their bounds, hashes have 32 digits, settings are
/// settings.
/// Throws    IoError, naming the file, the member, its bounds and the value
StateFile read_train_state(const std::filesystem::path& path);

}  // namespace farfield::run
