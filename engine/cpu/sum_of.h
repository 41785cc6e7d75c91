#pragma once

#include <cstdint>
#include <cstring>

namespace farfield {
namespace detail {

// The upper half is added to the lower one, until one is left; in registers, not in memory.
template <int N, class A>
A sum_of_halves(const A* lanes) {
  if constexpr (N == 1) {
    return lanes[0];
  } else {
    typedef A Half __attribute__((vector_size(N / 2 * sizeof(A))));
    Half low, high;
    std::memcpy(&low, lanes, sizeof low);
    std::memcpy(&high, lanes + N / 2, sizeof high);
    low += high;
    return sum_of_halves<N / 2>(reinterpret_cast<const A*>(&low));
  }
}

}  // namespace detail

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
  return detail::sum_of_halves<kLanes>(lanes) + rest;
}

}  // namespace farfield
