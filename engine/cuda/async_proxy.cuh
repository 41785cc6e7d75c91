#pragma once

#include "engine/cuda/launch.h"

namespace farfield {

/// What this thread has written to shared memory is seen by what reads and writes it by itself,
/// products of warpgroups (wgmma.cuh) and bulk copies (copy_bulk.cuh), that begin behind the next
/// barrier of the block.
///
/// Source    PTX ISA, fence.proxy.async; from sm_90 on
__device__ inline void show_to_async_proxy() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

}  // namespace farfield
