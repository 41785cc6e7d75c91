#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "apps/run/checkpoint_saver.h"
#include "apps/run/state.h"
#include "engine/base/hash.h"

namespace farfield::train {

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
  double wait_share = 0;    ///< of the time since the row before: waiting for the data
  run::SaveFigures saves;   ///< of checkpoints finished since the row before
  /// Share of the time since the last row spent waiting for the sums of several processes'
  /// gradients.
  double sum_wait_share = 0;
};

/// Appends rows to metrics.csv.
class MetricsFile {
 public:
  static std::string header();
  /// The record of a file without rows.
  static run::FileRecord empty_record();

  /// Opens the file of a run that stands at `step`: rows of later steps are dropped, so that no
  /// step comes twice. IoError if the file cannot be read or written, and if its rows up to that
  /// step differ from the record of the checkpoint (old runs have no record). A missing file begins
  /// anew.
  MetricsFile(std::filesystem::path path, int64_t step, const run::FileRecord& recorded = {});

  /// IoError if the row cannot be written whole; the rows before it stay.
  void append(const Metrics& row);
  /// All rows so far, for the checkpoint to be written, which flush() goes before.
  run::FileRecord record() const { return {bytes_, hasher_.hex()}; }
  /// Puts the rows of a file on the disk. Any thread. IoError.
  static void flush(const std::filesystem::path& path);
  /// Whether there was no file.
  bool is_new() const { return is_new_; }

 private:
  std::filesystem::path path_;
  bool is_new_ = false;
  size_t n_columns_ = 0;  // old runs have fewer
  int64_t bytes_ = 0;
  Hasher hasher_;  // of all rows
};

}  // namespace farfield::train
