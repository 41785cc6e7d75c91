#pragma once

#include <cstdint>

#include "engine/cuda/launch.h"

namespace farfield {

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kWarp = 32;

/// x, which all lanes of a warp have: what follows from it is computed once for the warp, in
/// uniform registers.
__device__ inline int uniform(int x) {
#ifdef __CUDA_ARCH__
  return __shfl_sync(kAllLanes, x, 0);
#else
  return x;
#endif
}

/// This warp of the block, in uniform registers.
__device__ inline int warp_of_block() { return uniform(static_cast<int>(threadIdx.x) / kWarp); }

/// Whether this is the one lane that a warp elects for what a thread does alone. By all lanes.
///
/// Source    PTX ISA, elect.sync; from sm_90 on
__device__ inline bool is_elected() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  uint32_t is_this;
  asm volatile(
      "{\n.reg .pred is_this;\nelect.sync _|is_this, 0xffffffff;\nselp.b32 %0, 1, 0, is_this;\n}"
      : "=r"(is_this));
  return is_this != 0;
#else
  return threadIdx.x % kWarp == 0;
#endif
}

/// The sum of the values of all lanes of a warp, in every lane, always in the same order.
template <class T>
__device__ T warp_sum(T value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

/// The largest of them, in every lane. None may be NaN.
template <class T>
__device__ T warp_max(T value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const T other = __shfl_xor_sync(kAllLanes, value, step);
    value = other > value ? other : value;
  }
  return value;
}

}  // namespace farfield
