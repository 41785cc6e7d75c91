#pragma once
// The part of NCCL that the engine uses, between processes of one machine, or threads of one
// process: by shared memory, each call done when it returns, unless a process is late: then the
// device waits for it until the group is aborted (stuck.h). The emulation refuses calls that the
// library refuses, and some calls that would make it wait for ever: memory that is not the
// device's, processes with different calls or a shared device. Names, parameters and values as in
// NVIDIA's header.

#include <cstddef>

#include "tests/support/cuda/runtime.h"

inline constexpr int NCCL_UNIQUE_ID_BYTES = 128;
struct ncclUniqueId {
  char internal[NCCL_UNIQUE_ID_BYTES];
};
enum ncclResult_t {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
};
const char* ncclGetErrorString(ncclResult_t status);

enum ncclDataType_t { ncclFloat32 = 7, ncclFloat64 = 8 };
enum ncclRedOp_t { ncclSum = 0 };

using ncclComm_t = struct ncclComm*;
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* group, int size, ncclUniqueId id, int rank);
ncclResult_t ncclCommDestroy(ncclComm_t group);
ncclResult_t ncclCommAbort(ncclComm_t group);
ncclResult_t ncclCommGetAsyncError(ncclComm_t group, ncclResult_t* status);

ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclAllReduce(const void* from, void* to, size_t n, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t group, cudaStream_t stream);
ncclResult_t ncclReduce(const void* from, void* to, size_t n, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t group, cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* from, void* to, size_t n, ncclDataType_t type, int root,
                           ncclComm_t group, cudaStream_t stream);

namespace farfield::emulation {

struct Nccl {
  double limit_s = 60;  ///< that a call waits for the other processes
  int n_calls = 0;      ///< of collectives
};
Nccl& emulated_nccl();

}  // namespace farfield::emulation
