#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/settings.h"
#include "engine/tensor.h"

namespace farfield::apps {

/// What a checkpoint says beside its tensors: state.json.
struct TrainState {
  int64_t step = 0;              ///< steps done
  int64_t tokens = 0;            ///< targets scored so far
  int64_t optimizer_t = 0;       ///< AdamW::t()
  double time_s = 0;             ///< spent training so far
  std::vector<int64_t> skipped;  ///< steps left out because they were not finite
  std::string data_hash;         ///< of the corpus
  Settings config;               ///< the settings that the weights depend on
};

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct Checkpoint {
  TrainState state;
  std::map<std::string, Tensor> model;
  std::map<std::string, Tensor> optimizer;  ///< empty when it was not asked for
  std::string model_hash;                   ///< of the file that the model came from
};

/// Writes folder/step-<8 digits>/{model.safetensors, optimizer.safetensors, state.json}: complete
/// or absent, with the hash of each file in state.json. Afterwards only the last `keep` (>= 1)
/// stay. A checkpoint of that step that is there already is replaced. IoError leaves the others as
/// they were.
void save_checkpoint(const std::filesystem::path& folder, const TrainState& state,
                     const NamedTensors& model, const NamedTensors& optimizer, int64_t keep);

/// The checkpoints in a folder, oldest first, complete or not.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

/// The newest checkpoint in a folder. IoError when there is none, and when it is damaged: the text
/// names the file at fault and the older checkpoints that are whole. It never takes an older one by
/// itself.
Checkpoint load_newest_checkpoint(const std::filesystem::path& folder, bool with_optimizer = true);

/// One checkpoint, every file compared with its hash. IoError names the file at fault.
Checkpoint load_checkpoint(const std::filesystem::path& path, bool with_optimizer = true);

}  // namespace farfield::apps
