#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace farfield::apps {

/// One row of metrics.csv.
struct Metrics {
  int64_t step = 0;
  int64_t tokens = 0;                ///< targets scored since the start of the run
  double loss = 0;                   ///< mean over the step's batch, nats per token
  std::optional<double> valid_loss;  ///< on fixed windows of the valid split, where measured
  double lr = 0;
  double grad_norm = 0;     ///< before clipping
  double tokens_per_s = 0;  ///< since the row before
  double time_s = 0;        ///< spent training, since the start of the run
};

/// Appends rows to metrics.csv.
class MetricsFile {
 public:
  static std::string header();

  /// Opens the file of a run that stands at `step`: rows of later steps are dropped, so that no
  /// step comes twice. IoError when it cannot be read or written.
  MetricsFile(std::filesystem::path path, int64_t step);

  /// IoError when the row cannot be written whole; what was there stays.
  void append(const Metrics& row);

 private:
  std::filesystem::path path_;
};

}  // namespace farfield::apps
