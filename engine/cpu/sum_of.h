#pragma once

#include <cstdint>

namespace farfield {

/// f(0) + ... + f(n - 1) in lanes that become vector registers, in an order fixed by n. Many lanes,
/// so that an addition need not wait for the one before it.
template <class A, class F>
A sum_of(int64_t n, const F& f) {
  constexpr int kLanes = 32;
  A lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += f(i + lane);
  A rest = 0;
  for (; i < n; ++i) rest += f(i);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0] + rest;
}

}  // namespace farfield
