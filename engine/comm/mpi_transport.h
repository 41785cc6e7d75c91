#pragma once

#include <memory>

#include "engine/comm/transport.h"

namespace farfield::comm {

/// Whether this was built with MPI.
bool has_mpi();
/// The processes that mpirun or srun has started (MPI_COMM_WORLD). MPI ends with the transport; one
/// in the life of a process. BackendError without MPI.
std::unique_ptr<Transport> start_mpi();

}  // namespace farfield::comm
