#include "apps/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/safetensors.h"

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace farfield::apps {
namespace {

constexpr std::string_view kWhere = "checkpoint";
constexpr int kFormat = 1;

// Step of "step-00000300", or -1 for another name.
int64_t step_of(const std::string& name) {
  constexpr std::string_view kPrefix = "step-";
  if (name.compare(0, kPrefix.size(), kPrefix) != 0) return -1;
  int64_t step = -1;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + kPrefix.size(), end, step);
  return read.ec == std::errc() && read.ptr == end && name.size() >= 13 ? step : -1;
}

std::string folder_name(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
  return name;
}

ordered_json file_facts(const fs::path& file, const std::string& hash) {
  return {{"bytes", fs::file_size(file)}, {"xxh3_128", hash}};
}

std::string state_text(const TrainState& state, const ordered_json& files) {
  ordered_json config = ordered_json::object();
  for (const auto& [key, value] : state.config) config[key] = value;
  ordered_json json = {{"format", kFormat},
                       {"step", state.step},
                       {"tokens", state.tokens},
                       {"optimizer_t", state.optimizer_t},
                       {"time_s", state.time_s},
                       {"skipped", state.skipped},
                       {"data_hash", state.data_hash},
                       {"config", config},
                       {"files", files}};
  json["hash"] = hash_hex(json.dump());  // of everything above
  return json.dump(2) + "\n";
}

// state.json, whole and unchanged.
ordered_json read_state(const fs::path& file) {
  ordered_json json = ordered_json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  require<IoError>(json.is_object() && json.contains("hash") && json["hash"].is_string(), kWhere,
                   file.string(), ": expected a JSON object with a hash; the file is damaged");
  const std::string hash = json["hash"];
  json.erase("hash");
  require<IoError>(hash_hex(json.dump()) == hash, kWhere, file.string(), ": expected the hash ",
                   hash, ", got ", hash_hex(json.dump()), "; the file was changed or is damaged");
  require<IoError>(json.value("format", 0) == kFormat, kWhere, file.string(), ": expected format ",
                   kFormat, ", got ", json.value("format", 0));
  return json;
}

std::map<std::string, Tensor> read_tensors(const fs::path& file, const ordered_json& facts) {
  std::error_code status;
  const uint64_t wanted = facts.at("bytes");
  const uint64_t size = fs::file_size(file, status);
  require<IoError>(!status, kWhere, file.string(), ": expected ", wanted,
                   " bytes: ", status.message());
  require<IoError>(size == wanted, kWhere, file.string(), ": expected ", wanted, " bytes, got ",
                   size, size < wanted ? "; the file is cut short" : "; the file was changed");
  return read_safetensors(file, facts.at("xxh3_128").get<std::string>()).tensors;
}

}  // namespace

void save_checkpoint(const fs::path& folder, const TrainState& state, const NamedTensors& model,
                     const NamedTensors& optimizer, int64_t keep) {
  require<ConfigError>(keep >= 1, kWhere, "expected to keep at least 1 checkpoint, got ", keep);
  AtomicFolder made(folder / folder_name(state.step));
  ordered_json files;
  const auto write = [&](const char* name, const NamedTensors& tensors) {
    const fs::path file = made.folder() / name;
    files[name] = file_facts(file, write_safetensors(file, tensors, {{"format", "pt"}}));
  };
  write("model.safetensors", model);
  write("optimizer.safetensors", optimizer);
  write_file_atomic(made.folder() / "state.json", state_text(state, files));
  made.commit(/*replace=*/true);

  std::vector<fs::path> all = list_checkpoints(folder);
  std::error_code ignored;  // an old checkpoint that cannot be removed is no reason to stop
  for (size_t i = 0; i + static_cast<size_t>(keep) < all.size(); ++i) {
    // Never a half-removed step-...; what a killed process leaves of it the next one removes.
    const fs::path aside = all[i].string() + ".tmp-old";
    fs::rename(all[i], aside, ignored);
    fs::remove_all(aside, ignored);
  }
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

Checkpoint load_checkpoint(const fs::path& path, bool with_optimizer) {
  const fs::path file = path / "state.json";
  Checkpoint checkpoint;
  try {
    const ordered_json json = read_state(file);
    TrainState& state = checkpoint.state;
    json.at("step").get_to(state.step);
    json.at("tokens").get_to(state.tokens);
    json.at("optimizer_t").get_to(state.optimizer_t);
    json.at("time_s").get_to(state.time_s);
    json.at("skipped").get_to(state.skipped);
    json.at("data_hash").get_to(state.data_hash);
    for (const auto& [key, value] : json.at("config").items())
      state.config.emplace_back(key, value);
    const ordered_json& files = json.at("files");
    files.at("model.safetensors").at("xxh3_128").get_to(checkpoint.model_hash);
    checkpoint.model = read_tensors(path / "model.safetensors", files.at("model.safetensors"));
    if (with_optimizer)
      checkpoint.optimizer =
          read_tensors(path / "optimizer.safetensors", files.at("optimizer.safetensors"));
  } catch (const nlohmann::json::exception& error) {
    fail<IoError>(kWhere, file.string(), ": ", error.what());
  }
  return checkpoint;
}

Checkpoint load_newest_checkpoint(const fs::path& folder, bool with_optimizer) {
  const std::vector<fs::path> all = list_checkpoints(folder);
  require<IoError>(!all.empty(), kWhere, folder.string(), ": expected a checkpoint, got none");
  try {
    return load_checkpoint(all.back(), with_optimizer);
  } catch (const IoError& error) {
    std::string whole;
    for (auto path = all.rbegin() + 1; path != all.rend(); ++path) {
      try {
        load_checkpoint(*path);
        whole.append(whole.empty() ? "" : ", ").append(path->filename().string());
      } catch (const IoError&) {
      }
    }
    if (whole.empty()) throw IoError(concat(error.what(), "; no older checkpoint is whole"));
    throw IoError(concat(error.what(), "; whole and older: ", whole, "; to go on from there, move ",
                         all.back().string(), " away"));
  }
}

}  // namespace farfield::apps
