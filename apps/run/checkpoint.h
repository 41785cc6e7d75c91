#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/run/state.h"
#include "engine/tensor.h"

namespace farfield::run {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

struct Checkpoint {
  TrainState state;
  std::map<std::string, Tensor> model;      ///< of a run with adapters, its trained tensors alone
  std::map<std::string, Tensor> optimizer;  ///< empty when it was not asked for
  std::string model_hash;                   ///< of the file that the model came from
};

/// Which checkpoints of a run stay.
struct KeptCheckpoints {
  int64_t last = 1;   ///< number of newest checkpoints to keep, at least 1
  int64_t every = 0;  ///< also keep each checkpoint at a multiple of this step; 0: no others
};

/// The file of a checkpoint that holds its weights.
std::filesystem::path weights_file(const std::filesystem::path& checkpoint,
                                   const TrainState& state);

/// Writes folder/step-<8 digits>/{model.safetensors, optimizer.safetensors, state.json}, of a run
/// with adapters {adapter_model.safetensors, adapter_config.json, ...} (peft.h): complete
/// or absent, with the hash of each file in state.json, which is written last. Files and folders
/// are flushed to the disk. Afterwards only `keep` stay. A checkpoint of that step that is there
/// already is replaced. Returns the bytes of its files. IoError leaves the others as they were.
int64_t save_checkpoint(const std::filesystem::path& folder, const TrainState& state,
                        const NamedTensors& model, const NamedTensors& optimizer,
                        const KeptCheckpoints& keep);

/// The step that a checkpoint is called by, "step-00000300"; -1 for another name.
int64_t step_of(const std::string& name);

/// The checkpoints in a folder, oldest first, complete or not.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

/// The step that the newest one is called by; nothing where none is there.
std::optional<int64_t> newest_step(const std::filesystem::path& folder);

/// The checkpoint of a step, or without a step the newest. IoError, naming the steps that are
/// there, when there is none.
std::filesystem::path find_checkpoint(const std::filesystem::path& folder,
                                      std::optional<int64_t> step);

/// What state.json records of a checkpoint, whose tensors are not read.
struct CheckpointRecord {
  TrainState state;
  std::string model_hash;  ///< Checkpoint::model_hash
};
/// Errors as load_checkpoint().
CheckpointRecord read_record(const std::filesystem::path& path);

/// The newest checkpoint in a folder. IoError when there is none, and when it is damaged: the text
/// names the file at fault and the older checkpoints that are whole. It never takes an older one by
/// itself.
Checkpoint load_newest_checkpoint(const std::filesystem::path& folder, bool with_optimizer = true);

/// One checkpoint, every file compared with its hash. IoError names the file at fault; state.json
/// is checked before memory is allocated for the tensors.
Checkpoint load_checkpoint(const std::filesystem::path& path, bool with_optimizer = true);

/// IoError, naming both files, unless a checkpoint was written by a run of this configuration;
/// `config_file` is where that stands. The device may be another where the weights are only read.
void check_same_config(const TrainState& state, const std::filesystem::path& config_file,
                       const Settings& config, bool same_device);

}  // namespace farfield::run
