#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "engine/cuda/elements.cuh"

namespace farfield {

/// Stores 8 or 16 bytes at once to device memory; `to` is a multiple of that. For values that are
/// used again afterwards, or rounded one by one: nvcc takes an ordinary store of those apart, into
/// one for each element.
template <class T, int kN>
__device__ inline void store_whole(const Vector<T, kN>& values, T* to) {
  static_assert(sizeof(values) == 8 || sizeof(values) == 16);
#ifdef __CUDACC__
  const auto words = std::bit_cast<Vector<uint32_t, sizeof(values) / 4>>(values);
  if constexpr (sizeof(values) == 8)
    asm volatile("st.global.v2.b32 [%0], {%1, %2};"
                 :
                 : "l"(to), "r"(words.at[0]), "r"(words.at[1])
                 : "memory");
  else
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(to), "r"(words.at[0]), "r"(words.at[1]), "r"(words.at[2]), "r"(words.at[3])
                 : "memory");
#else
  *reinterpret_cast<Vector<T, kN>*>(to) = values;
#endif
}

}  // namespace farfield
