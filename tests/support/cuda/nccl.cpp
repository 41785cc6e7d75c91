#include "tests/support/cuda/nccl.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "tests/support/cuda/capture.h"
#include "tests/support/cuda/copies.h"
#include "tests/support/cuda/device_memory.h"
#include "tests/support/cuda/stuck.h"

using namespace farfield::emulation;

namespace farfield::emulation {

Nccl& emulated_nccl() {
  static Nccl nccl;
  return nccl;
}

}  // namespace farfield::emulation

namespace {

constexpr int kMostProcesses = 8;
constexpr size_t kChunkBytes = size_t{1} << 16;

// The call of a process, which must be the same in all.
struct Call {
  enum class Kind : int { none, init, all_reduce, reduce, broadcast };
  Kind kind = Kind::none;
  uint64_t n = 0;
  int type = 0, root = 0;
  bool operator==(const Call&) const = default;
};

// In memory that all processes of a group have; all zeros is its beginning.
struct Shared {
  std::atomic<int> n_come, n_round;
  Call call[kMostProcesses];
  int device[kMostProcesses];
  alignas(64) unsigned char chunk[kMostProcesses][kChunkBytes];
};

struct Unmap {
  void operator()(Shared* shared) const { ::munmap(shared, sizeof(Shared)); }
};

size_t size_of(ncclDataType_t type) { return type == ncclFloat64 ? 8 : 4; }

thread_local int group_depth = 0;
thread_local std::vector<std::function<ncclResult_t()>> waiting;

}  // namespace

struct ncclComm {
  std::unique_ptr<Shared, Unmap> shared;
  int rank, size;

  // False when one of them does not come in time.
  bool wait_for_all() {
    Shared& s = *shared;
    const int round = s.n_round;
    if (++s.n_come == size) {
      s.n_come = 0;
      ++s.n_round;
      return true;
    }
    const auto start = std::chrono::steady_clock::now();
    while (s.n_round == round) {
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (waited.count() > emulated_nccl().limit_s) return false;
      ::sched_yield();
    }
    return true;
  }

  ncclResult_t agree(const Call& call) {
    shared->call[rank] = call;
    if (!wait_for_all()) return ncclRemoteError;
    const bool same = std::all_of(shared->call, shared->call + size,
                                  [&](const Call& theirs) { return theirs == call; });
    if (!wait_for_all()) return ncclRemoteError;
    return same ? ncclSuccess : ncclInvalidArgument;
  }

  // Of T float or double: in each chunk, from root the values or from all their sum.
  template <class T>
  ncclResult_t make(const Call& call, const void* from, void* to) {
    constexpr size_t kChunk = kChunkBytes / sizeof(T);
    const auto* const in = static_cast<const T*>(from);
    auto* const out = static_cast<T*>(to);
    const bool is_broadcast = call.kind == Call::Kind::broadcast;
    const bool receives = call.kind != Call::Kind::reduce || call.root == rank;
    for (size_t begin = 0; begin < call.n; begin += kChunk) {
      const size_t n = std::min<size_t>(kChunk, call.n - begin);
      std::memcpy(shared->chunk[rank], in + begin, n * sizeof(T));
      if (!wait_for_all()) return ncclRemoteError;
      const auto chunk = [&](int of) { return reinterpret_cast<const T*>(shared->chunk[of]); };
      for (size_t i = 0; i < n && receives; ++i) {
        T value = is_broadcast ? chunk(call.root)[i] : chunk(0)[i];
        for (int other = 1; other < size && !is_broadcast; ++other) value += chunk(other)[i];
        out[begin + i] = value;
      }
      if (!wait_for_all()) return ncclRemoteError;
    }
    return ncclSuccess;
  }
};

namespace {

ncclResult_t enqueue(const Call& call, const void* from, void* to, ncclComm_t group,
                     cudaStream_t stream) {
  const auto type = static_cast<ncclDataType_t>(call.type);
  const size_t size_bytes = call.n * size_of(type);
  const bool is_valid = group != nullptr && stream != nullptr && call.root >= 0 &&
                        call.root < group->size && (type == ncclFloat32 || type == ncclFloat64) &&
                        is_device_memory(from, size_bytes) && is_device_memory(to, size_bytes);
  if (!is_valid) return ncclInvalidArgument;
  if (is_capturing(stream)) return ncclInvalidUsage;
  const auto work = [=] {
    if (begin_work() != cudaSuccess) return ncclUnhandledCudaError;
    finish_copies();
    ++emulated_nccl().n_calls;
    if (is_stuck()) return ncclSuccess;  // comes after the call that the device waits for
    ncclResult_t status = group->agree(call);
    if (status == ncclSuccess)
      status = type == ncclFloat64 ? group->make<double>(call, from, to)
                                   : group->make<float>(call, from, to);
    if (status != ncclRemoteError) return status;
    set_stuck(true);
    return ncclSuccess;  // as far as the host can know
  };
  if (group_depth == 0) return work();
  waiting.push_back(work);
  return ncclSuccess;
}

}  // namespace

const char* ncclGetErrorString(ncclResult_t status) {
  switch (status) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
  }
  return "unknown result code";
}

// The id is the name of the shared memory, which is gone once all have it.
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> n_made{0};
  std::snprintf(id->internal, sizeof id->internal, "/farfield-nccl-%ld-%d",
                static_cast<long>(::getpid()), n_made++);
  const int file = ::shm_open(id->internal, O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file < 0) return ncclSystemError;
  const int status = ::ftruncate(file, sizeof(Shared));
  ::close(file);
  return status == 0 ? ncclSuccess : ncclSystemError;
}

ncclResult_t ncclCommInitRank(ncclComm_t* group, int size, ncclUniqueId id, int rank) {
  if (size < 1 || size > kMostProcesses || rank < 0 || rank >= size) return ncclInvalidArgument;
  const int file = ::shm_open(id.internal, O_RDWR, 0);
  if (file < 0) return ncclSystemError;
  void* const mapped = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED) return ncclSystemError;
  auto made = std::make_unique<ncclComm>(
      ncclComm{std::unique_ptr<Shared, Unmap>(static_cast<Shared*>(mapped)), rank, size});
  Shared& shared = *made->shared;
  cudaGetDevice(&shared.device[rank]);
  const ncclResult_t status =
      made->agree({.kind = Call::Kind::init, .n = static_cast<uint64_t>(size)});
  if (rank == 0) ::shm_unlink(id.internal);
  if (status != ncclSuccess) return status;
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < a; ++b)
      if (shared.device[a] == shared.device[b]) return ncclInvalidUsage;
  *group = made.release();
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t group) {
  if (!wait_while_stuck()) return ncclInternalError;
  delete group;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t group) {
  set_stuck(false);
  delete group;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* status) {
  *status = ncclSuccess;  // each call has told its own
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (group_depth == 0) return ncclInvalidUsage;
  if (--group_depth > 0) return ncclSuccess;
  ncclResult_t status = ncclSuccess;
  for (const auto& work : waiting)
    if (status == ncclSuccess) status = work();
  waiting.clear();
  return status;
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t n, ncclDataType_t type, ncclRedOp_t,
                           ncclComm_t group, cudaStream_t stream) {
  return enqueue({.kind = Call::Kind::all_reduce, .n = n, .type = type}, from, to, group, stream);
}
ncclResult_t ncclReduce(const void* from, void* to, size_t n, ncclDataType_t type, ncclRedOp_t,
                        int root, ncclComm_t group, cudaStream_t stream) {
  return enqueue({.kind = Call::Kind::reduce, .n = n, .type = type, .root = root}, from, to, group,
                 stream);
}
ncclResult_t ncclBroadcast(const void* from, void* to, size_t n, ncclDataType_t type, int root,
                           ncclComm_t group, cudaStream_t stream) {
  return enqueue({.kind = Call::Kind::broadcast, .n = n, .type = type, .root = root}, from, to,
                 group, stream);
}
