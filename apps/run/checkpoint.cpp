#include "apps/run/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <system_error>

#include "apps/run/config.h"
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
constexpr const char* kOptimizerFile = "optimizer.safetensors";

std::string folder_name(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
  return name;
}

std::map<std::string, Tensor> read_tensors(const fs::path& folder, const char* name,
                                           const StateFile& state_file) {
  const auto record = state_file.files.find(name);
  require<IoError>(record != state_file.files.end(), kWhere, (folder / kStateFile).string(),
                   ": expected a member 'files.", name, "', got none");
  const fs::path file = folder / name;
  const auto wanted = static_cast<uint64_t>(record->second.bytes);
  std::error_code status;
  const uint64_t size = fs::file_size(file, status);
  require<IoError>(!status, kWhere, file.string(), ": expected ", wanted,
                   " bytes: ", status.message());
  require<IoError>(size == wanted, kWhere, file.string(), ": expected ", wanted, " bytes, got ",
                   size, size < wanted ? "; the file is cut short" : "; the file was changed");
  return read_safetensors(file, record->second.hash).tensors;
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
  write(kModelFile, model);
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

Checkpoint load_checkpoint(const fs::path& path, bool with_optimizer) {
  StateFile read = read_train_state(path / kStateFile);
  const int64_t step = step_of(path.filename().string());
  require<IoError>(step < 0 || step == read.state.step, kWhere, (path / kStateFile).string(),
                   ": expected step ", step, ", as its folder is called, got ", read.state.step);
  Checkpoint checkpoint;
  checkpoint.model = read_tensors(path, kModelFile, read);
  checkpoint.model_hash = read.files.at(kModelFile).hash;
  if (with_optimizer) checkpoint.optimizer = read_tensors(path, kOptimizerFile, read);
  checkpoint.state = std::move(read.state);
  return checkpoint;
}

Checkpoint load_newest_checkpoint(const fs::path& folder, bool with_optimizer) {
  const std::vector<fs::path> all = list_checkpoints(folder);
  require<IoError>(!all.empty(), kWhere, folder.string(), ": expected a checkpoint, got none");
  try {
    return load_checkpoint(all.back(), with_optimizer);
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
