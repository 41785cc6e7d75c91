#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"

namespace farfield::test {

/// How a process ended, and its output.
struct EndedProcess {
  int status = 0;  ///< its exit status, 128 + n for signal n
  std::string said;
};

/// Runs `work` in `size` processes that have met by TCP, on this machine. A process's output is the
/// return value of `work`, or the message of its exception (with status 1).
std::vector<EndedProcess> in_processes(int size,
                                       const std::function<std::string(comm::Communicator&)>& work);
/// The same for work that keeps it.
std::vector<EndedProcess> in_processes(
    int size, const std::function<std::string(std::shared_ptr<comm::Communicator>)>& work);
/// The same before they have met: `work` of a rank, which is told a port that was free.
std::vector<EndedProcess> in_processes(
    int size, const std::function<std::string(int rank, uint16_t port)>& work);

}  // namespace farfield::test
