#pragma once

#include <ostream>
#include <string>

#include "apps/cli/progress.h"
#include "apps/run/resolved_config.h"
#include "engine/comm/launch.h"
#include "engine/distributed/group.h"

namespace farfield::run {

/// The processes that a program was started as, by mpirun, srun or the variables of torchrun: one
/// where none of them did. Those of a machine share its processors.
class Processes {
 public:
  /// Meets the others of the job, which must have this configuration and be of this build:
  /// ConfigError names the first that differs. Sets thread_count(), unless the configuration or
  /// FARFIELD_THREADS says it.
  static Processes meet(const ResolvedConfig& config);

  const Group& group() const { return group_; }
  /// stdout in the first process, nothing in the others.
  std::ostream& out() const;
  /// On it; in plain lines where a starter passes it on.
  cli::Progress progress() const;
  /// "4 processes by MPI (Open MPI v4.1.4), started by mpirun: 2 threads each", and what speaks
  /// against it.
  std::string description() const;

 private:
  comm::Launch launch_;
  Group group_;
};

}  // namespace farfield::run
