#pragma once
// Shared memory, spelled so that both compilers take it. A macro cannot: `extern __shared__ T x[]`
// declares an array without a size, and storage that C++ lays out itself could be neither filled
// with poison nor fenced off for each block. So what a block shares is a struct, as in CUTLASS:
//
//   struct Tile { float row[32][33]; float sum[32]; };
//   Tile& tile = shared<Tile>();
//
// nvcc makes one static object of it; the emulation hands out memory with red zones.

#include <cstddef>
#include <type_traits>

#include "engine/cuda/launch.h"

namespace farfield {

#ifdef __CUDACC__

/// The T that the threads of a block share, without a value at first: one for each T, however often
/// it is asked for. At most 48 KiB in one kernel.
template <class T>
__device__ T& shared() {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= detail::kPlainSharedBytes);
  alignas(alignof(T) > 16 ? alignof(T) : 16) __shared__ unsigned char object[sizeof(T)];
  return reinterpret_cast<T&>(object);
}

/// The shared memory whose size the launch gives, from its beginning.
template <class T>
__device__ T* dynamic_shared() {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 1024);
  extern __shared__ __align__(1024) unsigned char dynamic_bytes[];
  return reinterpret_cast<T*>(dynamic_bytes);
}

#else

template <class T>
T& shared(emulation::Where where = emulation::Where::here()) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= detail::kPlainSharedBytes);
  static constexpr char kKey = 0;
  return reinterpret_cast<T&>(*emulation::this_block().shared_object(&kKey, sizeof(T), where));
}

template <class T>
T* dynamic_shared(emulation::Where where = emulation::Where::here()) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 1024);
  return reinterpret_cast<T*>(emulation::this_block().dynamic_shared(where));
}

#endif

}  // namespace farfield
