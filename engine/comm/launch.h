#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/comm/communicator.h"

namespace farfield::comm {

/// How the processes of a job were started, by what they find in their environment.
struct Launch {
  enum class Handshake { none, mpi, tcp };
  Handshake handshake = Handshake::none;
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< among the processes of this machine
  std::string host;                    ///< of process 0, with tcp
  uint16_t port = 0;
  std::string starter;  ///< "mpirun", "srun", "RANK and WORLD_SIZE"; "" alone
};

/// The value of a variable of the environment; nothing where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string&)>;
Environment environment_of_process();

/// What started this process:
///   mpirun (Open MPI)             MPI
///   srun with --mpi=pmix or pmi2  MPI
///   RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT, as torchrun sets
///                                 them: TCP
///   srun without MPI              TCP, by way of the step's first node
/// ConfigError for variables that are incomplete or no numbers, and for MPI's in a program without.
Launch launch_of(const Environment& environment);

/// The processes of this launch, which meet here.
Communicator meet(const Launch& launch);

}  // namespace farfield::comm
