#pragma once

#include <cstdint>

#include "engine/cuda/launch.h"

namespace farfield {

/// Begins to copy kBytes from device to shared memory, both aligned to kBytes, while the thread
/// goes on; zeros if the piece is missing. The thread must wait before it reads `to`, and other
/// threads must pass a barrier after that.
///
/// Source    PTX ISA, cp.async; from sm_80 on. 16 bytes go past the first-level cache.
template <int kBytes>
__device__ void copy_async(void* to, const void* from, bool is_there) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
#ifdef __CUDACC__
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int size = is_there ? kBytes : 0;
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(size)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from),
                 "n"(kBytes), "r"(size)
                 : "memory");
#else
  emulation::copy_async(to, is_there ? from : nullptr, kBytes);
#endif
}

/// Ends a group: the copies that this thread began since it ended the last one, perhaps none.
__device__ inline void end_copy_group() {
#ifdef __CUDACC__
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  emulation::end_copy_group();
#endif
}

/// Waits until all copies of this thread have ended, except the copies of the last kLater groups.
template <int kLater>
__device__ void wait_for_copy_groups() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_group %0;" ::"n"(kLater) : "memory");
#else
  emulation::wait_for_copy_groups(kLater);
#endif
}

/// Waits until every copy that this thread began has ended.
__device__ inline void wait_for_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  emulation::wait_for_copies();
#endif
}

}  // namespace farfield
