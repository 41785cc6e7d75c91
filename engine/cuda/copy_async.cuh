#pragma once

#include <cstdint>

#include "engine/cuda/launch.h"

namespace farfield {

/// Begins to copy kBytes from device to shared memory, both aligned to that, beside what the thread
/// does next; zeros when `from` is not there. Nobody may look at `to` before the thread has waited,
/// and no other thread before a barrier after that.
///
/// Source    PTX ISA, cp.async; from sm_80 on. 16 bytes go past the first-level cache.
template <int kBytes>
__device__ void copy_async(void* to, const void* from, bool is_there) {
  static_assert(kBytes == 4 || kBytes == 16);
#ifdef __CUDACC__
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
  const int size = is_there ? kBytes : 0;
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(size)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(size)
                 : "memory");
#else
  emulation::copy_async(to, is_there ? from : nullptr, kBytes);
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
