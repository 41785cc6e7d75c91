#pragma once

#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/csv.h"
#include "apps/train/training_run.h"
#include "engine/base/file.h"
#include "tests/apps/toy_run.h"

namespace farfield::test {

/// Trains; `said` gets what progress showed, without warnings.
inline cli::ExitCode go(train::TrainingRun& run, std::optional<int64_t> stop_after = {},
                        std::string* said = nullptr) {
  std::ostringstream out;
  cli::ExitCode code;
  {
    cli::Progress progress(out, false);
    code = run.go(progress, stop_after);
  }
  if (said != nullptr) *said = out.str();
  return code;
}

/// The path of a new run of toy(), trained.
inline std::string made(const std::string& name, const run::ResolvedConfig& config,
                        std::optional<int64_t> stop_after = {}) {
  const std::string path = toy().path(name);
  train::TrainingRun run = train::TrainingRun::start(config, path);
  go(run, stop_after);
  return path;
}

/// A finished run of 8 steps that others start from, at toy().path("base").
inline const std::string& base() {
  static const std::string path = made("base", run::resolve(toy().config()));
  return path;
}

/// A file of the checkpoint of a step.
inline std::string bytes(const std::string& run, int64_t step, const char* file) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%08d", static_cast<int>(step));
  return read_file(std::filesystem::path(run) / "checkpoints" / name / file);
}

/// metrics.csv without what depends on the clock.
inline std::vector<std::vector<std::string>> metrics(const std::string& run) {
  auto rows = cli::parse_csv(run, read_file(std::filesystem::path(run) / "metrics.csv"));
  for (auto& row : rows) row.resize(6);
  return rows;
}

}  // namespace farfield::test
