#pragma once

#include <cstdint>
#include <type_traits>

#include "engine/cpu/lanes.h"

namespace farfield {
inline namespace FARFIELD_LANES {

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

/// A sum of which the last additions are left: of the lanes, and of `rest`.
template <class A>
struct LaneSums {
  lanes::Vec<A> lanes{};
  A rest = 0;  ///< of the terms behind the last 32, or multiple of 32
};

/// The terms f(At<V>{0}), f(At<V>{1}), ..., n of them, added in an order fixed by n. Many lanes, so
/// that an addition need not wait for the one before it. f computes with elements and with vectors
/// of A.
template <class A, class F>
LaneSums<A> lane_sums_of(int64_t n, const F& f) {
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
  return {sums[0], rest};
}

/// The sum of lane_sums_of().
template <class A, class F>
A sum_of(int64_t n, const F& f) {
  const LaneSums<A> sums = lane_sums_of<A>(n, f);
  return lanes::sum_of<A>(sums.lanes) + sums.rest;
}

/// The means of up to kRows rows, 1 or as many as a vector has lanes. The last additions and the
/// divisions of several are made at once: each row alone would wait for one after the other.
template <class A, int64_t kRows>
class RowMeans {
 public:
  /// Row i has the terms f(At<V>{0}), f(At<V>{1}), ..., n of them, added as by sum_of.
  template <class F>
  void set(int64_t i, int64_t n, const F& f) {
    const LaneSums<A> sums = lane_sums_of<A>(n, f);
    rows_[i] = sums.lanes;
    rest_[i] = sums.rest;
  }
  /// means[i] = the sum_of row i / n, to the bit, for each of kRows rows: 0 where none was set.
  /// Overwrites the sums.
  void finish(int64_t n, A* means) {
    const auto divisor = static_cast<A>(n);
    if constexpr (kRows == 1) {
      means[0] = (lanes::sum_of<A>(rows_[0]) + rest_[0]) / divisor;
    } else {
      static_assert(kRows == lanes::kLanes<A>);
      const lanes::Vec<A> sums = lanes::sums_of<A>(rows_) + lanes::load(rest_);
      lanes::store<A>(means, sums / lanes::splat(divisor));
    }
  }

 private:
  lanes::Vec<A> rows_[kRows] = {};
  A rest_[kRows] = {};
};

}  // namespace FARFIELD_LANES
}  // namespace farfield
