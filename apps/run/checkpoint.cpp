#include "apps/run/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <system_error>

#include "apps/run/config.h"
#include "apps/run/peft.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/safetensors.h"

namespace fs = std::filesystem;

namespace farfield::run {
namespace {

constexpr std::string_view kWhere = "checkpoint";
constexpr const char* kStateFile = "state.json";
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kAdapterFile = "adapter_model.safetensors";
constexpr const char* kAdapterConfigFile = "adapter_config.json";
constexpr const char* kOptimizerFile = "optimizer.safetensors";

bool has_adapters(const TrainState& state) { return !value_of(state.config, "lora").empty(); }

const char* model_file(const TrainState& state) {
  return has_adapters(state) ? kAdapterFile : kModelFile;
}

std::string folder_name(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
  return name;
}

// state.json, for the step that the folder is called by.
StateFile read_state(const fs::path& path) {
  StateFile read = read_train_state(path / kStateFile);
  const int64_t step = step_of(path.filename().string());
  require<IoError>(step < 0 || step == read.state.step, kWhere, (path / kStateFile).string(),
                   ": expected step ", step, ", as its folder is called, got ", read.state.step);
  return read;
}

const FileRecord& record_of(const fs::path& folder, const char* name, const StateFile& state) {
  const auto record = state.files.find(name);
  require<IoError>(record != state.files.end(), kWhere, (folder / kStateFile).string(),
                   ": expected a member 'files.", name, "', got none");
  return record->second;
}

std::map<std::string, Tensor> read_tensors(const fs::path& folder, const char* name,
                                           const StateFile& state_file) {
  const FileRecord& record = record_of(folder, name, state_file);
  const fs::path file = folder / name;
  const auto wanted = static_cast<uint64_t>(record.bytes);
  std::error_code status;
  const uint64_t size = fs::file_size(file, status);
  require<IoError>(!status, kWhere, file.string(), ": expected ", wanted,
                   " bytes: ", status.message());
  require<IoError>(size == wanted, kWhere, file.string(), ": expected ", wanted, " bytes, got ",
                   size, size < wanted ? "; the file is cut short" : "; the file was changed");
  return read_safetensors(file, record.hash).tensors;
}

}  // namespace

int64_t step_of(const std::string& name) {
  constexpr std::string_view kPrefix = "step-";
  if (name.compare(0, kPrefix.size(), kPrefix) != 0) return -1;
  int64_t step = -1;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + kPrefix.size(), end, step);
  return read.ec == std::errc() && read.ptr == end && name.size() >= 13 ? step : -1;
}

fs::path weights_file(const fs::path& checkpoint, const TrainState& state) {
  return checkpoint / model_file(state);
}

int64_t save_checkpoint(const fs::path& folder, const TrainState& state, const NamedTensors& model,
                        const NamedTensors& optimizer, const KeptCheckpoints& keep) {
  require<ConfigError>(keep.last >= 1, kWhere, "expected to keep at least 1 checkpoint, got ",
                       keep.last);
  AtomicFolder made(folder / folder_name(state.step));
  std::map<std::string, FileRecord> files;
  const auto write = [&](const char* name, const NamedTensors& tensors) {
    const fs::path file = made.folder() / name;
    const std::string hash = write_safetensors(file, tensors, {{"format", "pt"}});
    files[name] = {static_cast<int64_t>(fs::file_size(file)), hash};
  };
  if (has_adapters(state)) {
    write(kAdapterFile, to_peft(model, state.config));
    write_file_atomic(made.folder() / kAdapterConfigFile, adapter_config_text(state.config));
  } else {
    write(kModelFile, model);
  }
  write(kOptimizerFile, optimizer);
  const std::string state_text = train_state_text(state, files);
  write_file_atomic(made.folder() / kStateFile, state_text);
  made.commit(/*replace=*/true);

  std::vector<fs::path> all = list_checkpoints(folder);
  std::error_code ignored;  // an old checkpoint that cannot be removed is no reason to stop
  for (size_t i = 0; i + static_cast<size_t>(keep.last) < all.size(); ++i) {
    if (keep.every > 0 && step_of(all[i].filename().string()) % keep.every == 0) continue;
    // Never leaves a half-removed step-...; the next process removes the leftovers of a killed one.
    const fs::path aside = all[i].string() + ".tmp-old";
    fs::rename(all[i], aside, ignored);
    fs::remove_all(aside, ignored);
  }
  auto bytes = static_cast<int64_t>(state_text.size());
  for (const auto& [name, record] : files) bytes += record.bytes;
  return bytes;
}

std::vector<fs::path> list_checkpoints(const fs::path& folder) {
  std::vector<std::pair<int64_t, fs::path>> found;
  std::error_code status;
  for (const auto& entry : fs::directory_iterator(folder, status)) {
    const int64_t step = step_of(entry.path().filename().string());
    if (step >= 0) found.emplace_back(step, entry.path());
  }
  require<IoError>(!status, kWhere, folder.string(), ": cannot read: ", status.message());
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  for (auto& item : found) paths.push_back(std::move(item.second));
  return paths;
}

std::optional<int64_t> newest_step(const fs::path& folder) {
  try {
    const std::vector<fs::path> all = list_checkpoints(folder);
    if (!all.empty()) return step_of(all.back().filename().string());
  } catch (const IoError&) {
  }
  return std::nullopt;
}

fs::path find_checkpoint(const fs::path& folder, std::optional<int64_t> step) {
  const std::vector<fs::path> all = list_checkpoints(folder);
  if (!step && !all.empty()) return all.back();
  const auto name = [](const fs::path& path) { return path.filename().string(); };
  for (const fs::path& path : all)
    if (step && step_of(name(path)) == *step) return path;
  fail<IoError>(kWhere, folder.string(), ": expected a checkpoint",
                step ? concat(" of step ", *step) : "", ", got ",
                all.empty() ? "none" : joined(all, ", ", name));
}

CheckpointRecord read_record(const fs::path& path) {
  StateFile read = read_state(path);
  std::string hash = record_of(path, model_file(read.state), read).hash;
  return {std::move(read.state), std::move(hash)};
}

Checkpoint load_checkpoint(const fs::path& path, bool with_optimizer) {
  StateFile read = read_state(path);
  Checkpoint checkpoint;
  const char* const file = model_file(read.state);
  checkpoint.model = read_tensors(path, file, read);
  checkpoint.model_hash = record_of(path, file, read).hash;
  if (has_adapters(read.state)) {
    try {
      checkpoint.model = from_peft(checkpoint.model, read.state.config);
    } catch (const Error& error) {  // also of settings that are none
      fail<IoError>(kWhere, path.string(),
                    ": the adapters do not fit their settings: ", error.what());
    }
  }
  if (with_optimizer) checkpoint.optimizer = read_tensors(path, kOptimizerFile, read);
  checkpoint.state = std::move(read.state);
  return checkpoint;
}

Checkpoint load_newest_checkpoint(const fs::path& folder, bool with_optimizer) {
  const std::vector<fs::path> all = list_checkpoints(folder);
  const fs::path newest = find_checkpoint(folder, {});
  try {
    return load_checkpoint(newest, with_optimizer);
  } catch (const IoError& error) {
    std::vector<std::string> whole;
    for (auto path = all.rbegin() + 1; path != all.rend(); ++path) {
      try {
        load_checkpoint(*path);
        whole.push_back(path->filename().string());
      } catch (const IoError&) {
      }
    }
    if (whole.empty()) throw IoError(concat(error.what(), "; no older checkpoint is whole"));
    throw IoError(concat(error.what(), "; whole and older: ", joined(whole),
                         "; to resume from there, move ", all.back().string(), " away"));
  }
}

void check_same_config(const TrainState& state, const fs::path& config_file, const Settings& config,
                       bool same_device) {
  const std::vector<std::string> left_out =
      same_device ? std::vector<std::string>{} : std::vector<std::string>{"device"};
  const Settings mine = without(identity(config), left_out);
  const Settings theirs = without(identity(state.config), left_out);
  const std::string key = first_difference(theirs, mine), got = value_of(mine, key);
  require<IoError>(key.empty(), kWhere, config_file.string(), ": expected ", key, " = ",
                   value_of(theirs, key), ", as in the checkpoint of step ", state.step, ", got ",
                   got.empty() ? "none" : got, "; the file was changed or is damaged: set it back");
}

}  // namespace farfield::run
