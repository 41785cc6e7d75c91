// mpi_transport.h where there is no MPI.

#include <cstdlib>

#include "engine/base/error.h"
#include "engine/comm/mpi_transport.h"

namespace farfield::comm {

bool has_mpi() { return false; }

std::unique_ptr<Transport> start_mpi() {
  fail<BackendError>("mpi",
                     "this was built without MPI; start the processes with RANK, WORLD_SIZE, "
                     "MASTER_ADDR and MASTER_PORT instead, or build it where MPI is installed");
}

bool end_mpi(std::optional<std::chrono::seconds>) { return true; }

void abort_mpi(int status) { std::_Exit(status); }

}  // namespace farfield::comm
