#pragma once

#include "engine/cuda/launch.h"

namespace farfield {

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kWarp = 32;

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
