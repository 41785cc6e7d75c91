#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/cpu/lanes.h"
#include "engine/dtype.h"

namespace farfield {

/// to[i] = from[i] for the rows of a head: too few elements for a call of memcpy.
template <class T>
void copy_short(const T* from, int64_t n, T* to) {
  constexpr int64_t kBytes = 64, kElements = kBytes / static_cast<int64_t>(sizeof(T));
  int64_t i = 0;
  for (; i + kElements <= n; i += kElements) {
    std::array<std::byte, kBytes> piece;
    std::memcpy(&piece, from + i, kBytes);
    asm volatile("" ::: "memory");  // else the loop becomes a call of memcpy
    std::memcpy(static_cast<void*>(to + i), &piece, kBytes);
  }
  for (; i < n; ++i) to[i] = from[i];
}

inline namespace FARFIELD_LANES {

/// to[i] = from[i], rounded once; between equal types bit by bit.
template <class From, class To>
void convert(const From* __restrict from, int64_t n, To* __restrict to) {
  if constexpr (std::is_same_v<From, To>) {
    copy_short(from, n, to);
  } else {
    int64_t i = 0;
    if constexpr (std::is_same_v<From, float> && std::is_same_v<To, BFloat16>)
      for (; i + lanes::kLanes<float> <= n; i += lanes::kLanes<float>)
        lanes::store_rounded(to + i, lanes::load(from + i));
    for (; i < n; ++i) to[i] = static_cast<To>(static_cast<Accumulate<From>>(from[i]));
  }
}

}  // namespace FARFIELD_LANES

}  // namespace farfield
