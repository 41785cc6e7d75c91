#pragma once

#include <functional>
#include <string>

#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/comm/communicator.h"

namespace farfield::run {

/// The failure of another process of the group, which reports it itself: this process prints
/// nothing, except in run_main() if the other does not end. The exit status equals the other's.
struct OtherFailed : Error {
  explicit OtherFailed(const std::string& what, cli::ExitCode its_status = cli::kFailed)
      : Error(what), status(its_status) {}
  cli::ExitCode status;
};

/// Has the first process do what only one can do, as writing a file, while the others wait. They
/// throw OtherFailed when it throws.
void in_first(comm::Communicator& processes, const std::function<void()>& work);

/// Whether it holds in one of the processes at least.
bool in_any(comm::Communicator& processes, bool here);

}  // namespace farfield::run
