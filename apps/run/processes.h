#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "apps/cli/progress.h"
#include "apps/run/processor_share.h"
#include "engine/comm/launch.h"
#include "engine/distributed/group.h"

namespace farfield::run {

/// The processes that a program was started as, by mpirun, srun or the variables of torchrun: one
/// where none of them did. Those of a machine share its processors (processor_share.h); of its GPUs
/// "cuda" is the one with the process's number on the machine, or the only one that
/// CUDA_VISIBLE_DEVICES leaves it.
class Processes {
 public:
  /// By the environment. ConfigError as comm::launch_of().
  Processes();

  /// Does work that depends on the command line alone, before the processes meet: the first process
  /// reports a ConfigError, the others throw OtherFailed.
  void before_meeting(const std::function<void()>& work) const;
  /// Meets the others of the job, which must have this configuration and be of this build:
  /// ConfigError names the first that differs. Each process uses `threads` if given
  /// (cli::use_threads()), else FARFIELD_THREADS; without both, the processes of a machine share
  /// the processors that they may run on.
  void meet(const std::string& config, std::optional<int64_t> threads);

  /// Whether this is the first of them, also before they have met.
  bool is_first() const { return launch_.rank == 0; }
  /// How many they are, also before they have met.
  int64_t size() const { return launch_.size; }
  const Group& group() const { return group_; }
  /// stdout in the first process, nothing in the others, also before they have met.
  std::ostream& out() const;
  /// The same of stderr, for warnings.
  std::ostream& err() const;
  /// The same of cli::remarks().
  std::ostream& remarks() const;
  /// On remarks(); in plain lines where a starter passes it on.
  cli::Progress progress() const;
  /// "4 processes by MPI (Open MPI v4.1.4), started by mpirun: 2 threads each", and what speaks
  /// against it.
  std::string description() const;

 private:
  std::ostream& in_first(std::ostream& stream) const;

  comm::Launch launch_;
  Group group_;
  std::vector<Processors> processors_;  // by rank; none alone
};

/// cli::run_main() of a program that may be several processes. It must be the last call of main(),
/// since it ends MPI. A process that is done waits for all others here. A process that fails says
/// why, then waits 5 seconds for the others; 20 seconds after OtherFailed or a stop on request. If
/// a process is still missing then (it may wait for a message of this one), mpirun or srun ends all
/// processes with this exit status; before that, an OtherFailed is reported after all. Without MPI
/// no process waits.
int run_main(int argc, char** argv, const std::function<int(int argc, char** argv)>& program);

/// Runs a command, work(processes, out), in all processes of the program, and returns its exit
/// status. Only the first process prints and reports a wrong call (ConfigError), which is the same
/// in all: the others get an `out` that goes nowhere, and throw OtherFailed.
int run_as_job(std::ostream& out, const std::function<int(Processes&, std::ostream&)>& work);

/// The words of a call, for meet().
std::string words_of(int argc, const char* const* argv);

}  // namespace farfield::run
