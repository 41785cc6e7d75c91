#pragma once

#include <ostream>

#include "apps/cli/options.h"
#include "apps/sweep/folder.h"

namespace farfield::sweep {

struct CellRunOptions {
  int64_t workers = 1;        ///< that share the memory
  bool keep_weights = false;  ///< leave the run folder when all is measured
  /// Without a driver, which does it at its end: remove the weights that this cell starts from once
  /// no cell needs them any more.
  bool drop_base = false;
  bool tensorboard = false;  ///< event files in SweepFolder::events()
};

/// Trains the model of a cell, or goes on with it, or takes the run that is given, and measures
/// what is not measured yet; each measurement is saved at once. kStopped after a signal, with
/// nothing lost. Errors are thrown.
cli::ExitCode run_cell(const SweepFolder& folder, const Cell& cell, const CellRunOptions& options,
                       std::ostream& out);

}  // namespace farfield::sweep
