#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "apps/train/event_file.h"
#include "apps/train/metrics.h"
#include "posenc/composition.h"

namespace farfield::train {

/// A run for TensorBoard: the numbers of metrics.csv as scalars, and what the encoding has learned
/// as pictures.
class TensorBoard {
 public:
  /// A new event file in the folder of a run that stands at `step`. IoError.
  TensorBoard(const std::filesystem::path& folder, int64_t step);

  /// IoError, and the row is left out.
  void add(const Metrics& row);
  /// Bias and weight by distance up to the training length, a line per head, for each group of
  /// layers with the same tables. Nothing for an encoding without learned tables, and without
  /// gnuplot, which `why_not` then says. IoError.
  void add_tables(int64_t step, const posenc::Composition& encoding, std::string& why_not);

 private:
  EventFile file_;
};

}  // namespace farfield::train
