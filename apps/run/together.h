#pragma once

#include <functional>
#include <string>

#include "apps/cli/options.h"
#include "engine/base/error.h"
#include "engine/comm/communicator.h"

namespace farfield::run {

/// What another process of the group came to, which says so itself: nothing is to be printed, but
/// by run_main() where the other does not end. The exit status is as the other's would be.
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
