#pragma once

#include "engine/cuda/launch.h"

namespace farfield {

/// Makes this thread's writes to shared memory visible to asynchronous readers and writers, which
/// are warpgroup products (wgmma.cuh) and TMA copies (copy_bulk.cuh), that begin after the next
/// barrier of the block.
///
/// Source    PTX ISA, fence.proxy.async; from sm_90 on
__device__ inline void show_to_async_proxy() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

}  // namespace farfield
