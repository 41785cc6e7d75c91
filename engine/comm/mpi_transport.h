#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "engine/comm/transport.h"

namespace farfield::comm {

/// Whether this was built with MPI.
bool has_mpi();
/// The processes that mpirun or srun has started (MPI_COMM_WORLD); once in the life of a process.
/// BackendError without MPI. MPI does not end with the transport: ending MPI waits for all other
/// processes, and a process that fails must report its error first. So end_mpi() comes last.
std::unique_ptr<Transport> start_mpi();

/// Ends MPI once all processes have called this, and returns true; true also if MPI was not
/// started. Waits as long as it takes, or for `patience` at most: returns false if a process is
/// missing, for example because it waits for a message of this process. Then call abort_mpi().
bool end_mpi(std::optional<std::chrono::seconds> patience);

/// Ends this process with this exit status, and makes mpirun or srun end the others at once.
[[noreturn]] void abort_mpi(int status);

}  // namespace farfield::comm
