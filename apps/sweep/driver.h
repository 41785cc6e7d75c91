#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/options.h"
#include "apps/sweep/folder.h"
#include "apps/sweep/results.h"

namespace farfield::sweep {

struct DriverOptions {
  int64_t jobs = 1;     ///< workers at a time
  int64_t threads = 1;  ///< of all of them
  bool keep_weights = false;
  bool tensorboard = false;
  bool retry_failed = false;  ///< make cells anew that ended with an error
  bool is_card = false;       ///< they compute on a GPU
  /// When workers are told to stop. No cell is begun that would not be finished by then, at the
  /// pace of the finished ones.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
};

/// The states of the cells of a sweep.
struct CellStates {
  std::vector<Cell> done, running, open, failed;
};
CellStates states_of(const SweepFolder& folder, const std::vector<Cell>& cells);
/// The same with the results of the folder, which take time to read.
CellStates states_of(const SweepFolder& folder, const std::vector<Cell>& cells,
                     const Results& results);
/// The open cells, and with retry_failed the failed cells too.
std::vector<Cell> cells_to_make(const SweepFolder& folder, const std::vector<Cell>& cells,
                                const DriverOptions& options);
/// Why a cell failed: the last lines of its worker; "" where it did not.
std::string failure_of(const SweepFolder& folder, const std::string& hash);

/// The command that makes a cell, as a worker or a job array calls it.
std::vector<std::string> command_of(const SweepFolder& folder, const Cell& cell,
                                    const DriverOptions& options);

/// Makes the cells that are open, several at a time, each in a process of its own. kDone when all
/// have results, kFailed when some failed, kStopped after a signal and where the deadline leaves
/// cells open: every worker has then left a checkpoint. Says on remarks() how far it is, and on
/// stderr what fails and that it was stopped.
cli::ExitCode drive(const SweepFolder& folder, const std::vector<Cell>& cells,
                    const DriverOptions& options);

}  // namespace farfield::sweep
