#include "apps/run/folder.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "apps/run/checkpoint.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/temporary.h"
#include "engine/base/write_target.h"

namespace fs = std::filesystem;

namespace farfield::run {
namespace {
constexpr std::string_view kWhere = "run";

bool is_run(const fs::path& path) { return is_file(path / "config.conf"); }

constexpr const char* kOwnRuns = "; only runs of `train` are read, no models of Hugging Face";

// The run that a path is within, or nothing.
fs::path run_around(const fs::path& path) {
  const fs::path plain = path.has_filename() ? path : path.parent_path();
  for (fs::path at = plain.parent_path(); !at.empty(); at = at.parent_path()) {
    if (is_run(at)) return at;
    if (at == at.parent_path()) break;
  }
  return {};
}

// " (LlamaForCausalLM)", as the file says; empty where it does not.
std::string architecture_in(const fs::path& file) {
  try {
    const std::string text = read_file(file);
    const Json json = read_json({kWhere, file.string(), text});
    const auto names = whole_member<std::vector<std::string>>(json, "architectures");
    return names && !names->empty() ? concat(" (", names->front(), ')') : "";
  } catch (const Error&) {
    return "";
  }
}

// The reason why a folder is no run: its contents.
std::string what_is_in(const fs::path& path) {
  std::error_code status;
  std::vector<std::string> runs;
  for (const auto& entry : fs::directory_iterator(path, status))
    if (fs::is_regular_file(entry.path() / "config.conf", status))
      runs.push_back(entry.path().string());
  std::sort(runs.begin(), runs.end());
  if (!runs.empty()) {
    constexpr size_t kMost = 5;
    std::string list;
    for (size_t i = 0; i < std::min(runs.size(), kMost); ++i)
      list.append(i == 0 ? "" : ", ").append(runs[i]);
    return concat("a folder of runs; name one of them: ", list, runs.size() > kMost ? ", ..." : "");
  }
  const fs::path run = run_around(path);
  const fs::path plain = path.has_filename() ? path : path.parent_path();
  if (const int64_t step = step_of(plain.filename().string()); step >= 0 && !run.empty())
    return concat("a checkpoint of one; name the run and the step: ", run.string(), " --step ",
                  step);
  if (!run.empty()) return "a part of a run; name " + run.string();
  if (fs::exists(path / "train.tokens", status)) return "a corpus of `prepare`";
  if (fs::exists(path / "config.json", status))
    return concat("a Hugging Face model", architecture_in(path / "config.json"), kOwnRuns);
  return "one without config.conf; `train` makes runs";
}

// The message about a missing path: the user may mean the name of a model elsewhere, "gpt2" or
// "EleutherAI/pythia-70m".
std::string what_is_missing(const fs::path& path) {
  if (path.empty()) return "an empty path";
  std::error_code status;
  const auto n_parts = std::distance(path.begin(), path.end());
  const bool is_name = path.is_relative() && n_parts <= 2 && path.begin()->string() != "." &&
                       path.begin()->string() != ".." &&
                       (n_parts == 1 || !fs::exists(*path.begin(), status));
  return concat("nothing of that name", is_name ? kOwnRuns : "");
}

}  // namespace

RunFolder RunFolder::create(const fs::path& path, const Files& files,
                            const std::function<void(const fs::path&)>& fill) {
  std::error_code status;
  const bool is_there = fs::exists(path, status) && !fs::is_empty(path, status);
  require<ConfigError>(!is_there, kWhere, path.string(),
                       ": expected a new folder, got one with files in it; continue the run with "
                       "--resume ",
                       path.string(), " or choose another --out");
  remove_leftovers(path);
  AtomicFolder made(path);
  write_file_atomic(made.folder() / "config.conf", config_text(files.config));
  write_file_atomic(made.folder() / "manifest.json", files.manifest);
  write_file_atomic(made.folder() / "metrics.csv", files.metrics_header);
  if (!files.tokenizer.empty())
    write_file_atomic(made.folder() / "tokenizer.json", files.tokenizer);
  if (!files.products.empty()) write_file_atomic(made.folder() / "products.json", files.products);
  const fs::path checkpoints = made.folder() / "checkpoints";
  fs::create_directory(checkpoints, status);
  require<IoError>(!status, kWhere, path.string(), ": cannot write: ", status.message());
  if (fill) fill(checkpoints);
  RunFolder run(path);
  run.read_config(made.folder());
  run.lock(made.folder());  // nobody sees it without
  made.commit();
  return run;
}

RunFolder RunFolder::open_for_training(const fs::path& path) {
  RunFolder run = open(path);
  run.lock(path);
  remove_leftovers(path);
  remove_leftovers_in(path);
  remove_leftovers_in(run.checkpoints(), Folder::locked);
  remove_leftovers_in(run.eval());
  remove_leftovers_in(run.eval() / "cells");
  return run;
}

RunFolder RunFolder::open(const fs::path& path) {
  RunFolder run(path);
  require<IoError>(is_folder(path), kWhere, path.string(), ": expected the folder of a run, got ",
                   !is_there(path) ? what_is_missing(path)
                   : run_around(path).empty()
                       ? "a file"
                       : concat("a file of one; name ", run_around(path).string()));
  require<IoError>(is_run(path), kWhere, path.string(), ": expected the folder of a run, got ",
                   is_run(path) ? "" : what_is_in(path));
  run.read_config(path);
  return run;
}

void RunFolder::lock(const fs::path& folder) {
  const fs::path file = folder / "lock";
  lock_ = FileLock::take(file, kWhere);
  require<ConfigError>(lock_.has_value(), kWhere, path_.string(), ": another process (",
                       FileLock::owner(file), ") is training this run; wait for it or stop it");
}

void RunFolder::remove() {
  const fs::path plain = write_target(path_);
  const fs::path aside = plain.string() + ".tmp-" + std::to_string(::getpid());
  std::error_code status;
  fs::rename(plain, aside, status);  // never a half-removed run
  fs::remove_all(status ? plain : aside, status);
}

void RunFolder::rename(const std::string& name) {
  if (value_of(config_, "name") == name) return;
  config_ = without(config_, {"name"});
  if (!name.empty()) config_.emplace_back("name", name);
  write_file_atomic(path_ / "config.conf", config_text(config_));
}

void RunFolder::read_config(const fs::path& folder) {
  const fs::path file = folder / "config.conf";
  config_ = parse_settings(file.string(), read_file(file));
}

Json read_manifest(const RunFolder& run) {
  const std::string file = run.manifest().string();
  return is_there(file) ? read_json({"manifest", file, read_file(file)}) : Json();
}

}  // namespace farfield::run
