#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "apps/sweep/driver.h"
#include "apps/sweep/folder.h"

namespace farfield::sweep {

/// A job array in place of workers of this process.
struct SlurmOptions {
  std::string options = {};  ///< words for sbatch, such as "--partition=gpu --time=8:00:00"
  bool has_card = false;     ///< each task asks for a GPU
};

/// The script of a job array that makes `cells`, one a task, at most DriverOptions::jobs at a time.
/// Task n takes the n-th line of `list`. A task that fails leaves failed/HASH.txt, as a worker
/// does; one that Slurm stops leaves a checkpoint, and its cell open.
std::string array_script(const SweepFolder& folder, const std::vector<Cell>& cells,
                         const std::filesystem::path& list, const DriverOptions& options,
                         const SlurmOptions& slurm);

/// Writes slurm/N.cells and slurm/N.sh of the folder and submits them: cells that are open and in
/// no job that still waits or runs. Cells that start from the weights of another are an array of
/// their own, which begins after the array with that one. IoError where sbatch is missing or
/// refuses.
cli::ExitCode submit(const SweepFolder& folder, const std::vector<Cell>& cells,
                     const DriverOptions& options, const SlurmOptions& slurm, std::ostream& out);
/// Prints what submit() would do with these open cells; cells of queued jobs are left out too.
void show_submission(const SweepFolder& folder, const std::vector<Cell>& waiting,
                     const DriverOptions& options, const SlurmOptions& slurm, std::ostream& out);

}  // namespace farfield::sweep
