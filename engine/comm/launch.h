#pragma once

#include <cstdint>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/comm/variables.h"

namespace farfield::comm {

/// How the processes of a job were started, according to their environment.
struct Launch {
  enum class Handshake { none, mpi, tcp };
  Handshake handshake = Handshake::none;
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< among the processes of this machine
  std::string host;                    ///< where they meet, with tcp: see Meeting
  uint16_t port = 0;
  std::string store_key;  ///< not "": torchrun keeps a store there
  std::string starter;    ///< "mpirun", "srun", "torchrun", "RANK and WORLD_SIZE"; "" alone
};

/// The launcher of this process:
///   mpirun (Open MPI)             MPI
///   RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT
///                                 TCP: process 0 listens there
///   the same with TORCHELASTIC_USE_AGENT_STORE=True, as torchrun sets them
///                                 TCP, at a port agreed on in torchrun's store, which is there
///   srun with --mpi=pmix or pmi2  MPI
///   srun without MPI              TCP, by way of the step's first node and a port from the numbers
///                                 of job and step; MASTER_ADDR and MASTER_PORT say others
/// ConfigError for variables that are incomplete or no numbers, and for MPI's in a program without.
Launch launch_of(const Environment& environment);

/// The processes of this launch, which meet here.
Communicator meet(const Launch& launch);

}  // namespace farfield::comm
