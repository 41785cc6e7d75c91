#pragma once

#include <cstdio>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "apps/cli/csv.h"
#include "apps/train/training_run.h"
#include "engine/base/file.h"

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
