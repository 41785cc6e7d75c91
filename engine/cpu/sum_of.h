#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/cpu/lanes.h"

namespace farfield {

/// Reads rows at a place: an element each, or the vector that begins there, in type V.
template <class V>
struct At {
  int64_t i;

  template <class T>
  V operator()(const T* row) const {
    if constexpr (std::is_arithmetic_v<V>)
      return static_cast<V>(row[i]);
    else
      return lanes::load_wide(row + i);
  }
};

/// f(At<V>{0}) + f(At<V>{1}) + ... for n elements, in an order fixed by n. Many lanes, so that an
/// addition need not wait for the one before it. f computes with elements and with vectors of A.
template <class A, class F>
A sum_of(int64_t n, const F& f) {
  using V = lanes::Vec<A>;
  constexpr int64_t kWidth = lanes::kLanes<A>;
  constexpr int kVectors = static_cast<int>(32 / kWidth);
  V sums[kVectors] = {};
  int64_t i = 0;
  for (; i + kVectors * kWidth <= n; i += kVectors * kWidth)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) sums[v] += f(At<V>{i + v * kWidth});
  A rest = 0;
  for (; i < n; ++i) rest += f(At<A>{i});
#pragma GCC unroll 4
  for (int half = kVectors / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int v = 0; v < half; ++v) sums[v] += sums[v + half];
  return lanes::sum_of<A>(sums[0]) + rest;
}

}  // namespace farfield
