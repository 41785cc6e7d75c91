#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/dtype.h"

namespace farfield {

/// to[i] = from[i], rounded once; between equal types bit by bit.
template <class From, class To>
void convert(const From* __restrict from, int64_t n, To* __restrict to) {
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<From, To>)
      to[i] = from[i];
    else
      to[i] = static_cast<To>(static_cast<Accumulate<From>>(from[i]));
  }
}

}  // namespace farfield
