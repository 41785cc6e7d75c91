#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm/transport.h"

namespace farfield::comm {

/// Where the processes of a job find each other.
struct Meeting {
  int rank = 0, size = 1;
  int local_size = 1;  ///< processes on this machine, where that is known
  std::string host;    ///< of process 0: MASTER_ADDR
  uint16_t port = 0;   ///< that process 0 listens on: MASTER_PORT
  /// Not "": host and port belong to torchrun's store. Process 0, which may listen on any port,
  /// writes its address there under this key, and erases it when all have met.
  std::string store_key = {};
  std::chrono::seconds patience{30};
};

/// Connects every two processes of a job by TCP. Anyone who reaches the port can join: for networks
/// whose users are trusted, as MPI's are.
///
/// ConfigError when the processes differ in size or two have one rank; BackendError, saying who is
/// missing, when not all are there in time.
std::unique_ptr<Transport> meet_by_tcp(const Meeting& meeting);

}  // namespace farfield::comm
