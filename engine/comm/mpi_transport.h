#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "engine/comm/transport.h"

namespace farfield::comm {

/// Whether this was built with MPI.
bool has_mpi();
/// The processes that mpirun or srun has started (MPI_COMM_WORLD); once in the life of a process.
/// BackendError without MPI. MPI does not end with the transport: to end it is to wait for all
/// others, which a process that fails must not do before it has said why. So end_mpi() comes last.
std::unique_ptr<Transport> start_mpi();

/// Ends MPI together with the other processes, once all have called this; true then, and where MPI
/// was not started. Waits for them as long as it takes, or for `patience` at most: false when one
/// is missing, as where it waits for a message of this process. What is left then is abort_mpi().
bool end_mpi(std::optional<std::chrono::seconds> patience);

/// Ends this process with this exit status, and has mpirun or srun end the others, whatever they
/// are at.
[[noreturn]] void abort_mpi(int status);

}  // namespace farfield::comm
