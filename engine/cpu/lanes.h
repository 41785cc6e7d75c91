#pragma once
// Vectors of the widest kind that the target has, through the compilers' vector extensions: one
// source for AVX-512, AVX2, SSE and NEON, float and double.

#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/cpu/widened.h"

// A name of its own for each width: a program that has several does not mix their functions.
#if defined(__AVX512F__)
#define FARFIELD_LANES bytes_64
#elif defined(__AVX__)
#define FARFIELD_LANES bytes_32
#else
#define FARFIELD_LANES bytes_16
#endif

namespace farfield::lanes {
inline namespace FARFIELD_LANES {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class A>
struct Lanes;
template <>
struct Lanes<float> {
  typedef float V __attribute__((vector_size(kVectorBytes)));
  typedef int32_t I __attribute__((vector_size(kVectorBytes)));
  typedef float Half __attribute__((vector_size(kVectorBytes / 2)));
};
template <>
struct Lanes<double> {
  typedef double V __attribute__((vector_size(kVectorBytes)));
  typedef int64_t I __attribute__((vector_size(kVectorBytes)));
  typedef double Half __attribute__((vector_size(kVectorBytes / 2)));
};

/// A vector of A, the integer vector of the same lanes (comparisons give it), and their number.
template <class A>
using Vec = typename Lanes<A>::V;
template <class A>
using IntVec = typename Lanes<A>::I;
/// Half of a vector.
template <class A>
using HalfVec = typename Lanes<A>::Half;
template <class A>
inline constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(A));

template <class A>
inline Vec<A> load(const A* from) {
  Vec<A> x;
  std::memcpy(&x, from, sizeof x);
  return x;
}

/// A vector of numbers in their accumulation type.
template <class A>
inline Vec<A> load_wide(const A* from) {
  return load(from);
}
inline Vec<float> load_wide(const BFloat16* from) { return widened<Vec<float>>(from); }

template <class A>
inline void store(A* to, Vec<A> x) {
  std::memcpy(to, &x, sizeof x);
}

/// to[0], to[1], ... = x, rounded to their type.
template <class A>
inline void store_rounded(A* to, Vec<A> x) {
  store<A>(to, x);
}
inline void store_rounded(BFloat16* to, Vec<float> x) { narrow(x, to); }

template <class A>
inline Vec<A> splat(A x) {
  return x - Vec<A>{};
}

// One step of a transposition: swaps the off-diagonal step x step blocks of each 2 step x 2 step
// block.
template <class A, int step, int n_row, int... l>
inline void swap_blocks(Vec<A>* rows, std::integer_sequence<int, l...>) {
  constexpr int n = sizeof...(l);
  for (int i = 0; i < n_row; ++i) {
    if ((i & step) != 0) continue;
    const Vec<A> upper = rows[i], lower = rows[i + step];
    rows[i] = __builtin_shufflevector(upper, lower, ((l & step) ? n + l - step : l)...);
    rows[i + step] = __builtin_shufflevector(upper, lower, ((l & step) ? n + l : l + step)...);
  }
}

/// n rows, as squares of n x n side by side: in each, lane i of row j and lane j of row i change
/// places.
template <class A, int n = static_cast<int>(kLanes<A>)>
inline void transpose(Vec<A>* rows) {
  constexpr std::make_integer_sequence<int, static_cast<int>(kLanes<A>)> lanes;
  if constexpr (n > 8) swap_blocks<A, 8, n>(rows, lanes);
  if constexpr (n > 4) swap_blocks<A, 4, n>(rows, lanes);
  if constexpr (n > 2) swap_blocks<A, 2, n>(rows, lanes);
  if constexpr (n > 1) swap_blocks<A, 1, n>(rows, lanes);
}

/// A vector of two halves.
template <class A>
inline Vec<A> joined(HalfVec<A> low, HalfVec<A> high) {
  return [&]<int... l>(std::integer_sequence<int, l...>) {
    return __builtin_shufflevector(low, high, l...);
  }
  (std::make_integer_sequence<int, static_cast<int>(kLanes<A>)>());
}

/// The larger of each lane; b where a is NaN.
template <class A>
inline Vec<A> maximum(Vec<A> a, Vec<A> b) {
  return a > b ? a : b;
}

/// The upper half of the lanes is joined with the lower one, until one is left; in registers.
template <class V, class F>
inline auto fold_lanes(V x, const F& join) {
  constexpr size_t n = sizeof(V) / sizeof(x[0]);
  if constexpr (n == 2) {
    return join(x[0], x[1]);
  } else {
    return [&]<int... l>(std::integer_sequence<int, l...>) {
      return fold_lanes(join(__builtin_shufflevector(x, x, l...),
                             __builtin_shufflevector(x, x, static_cast<int>(n / 2) + l...)),
                        join);
    }
    (std::make_integer_sequence<int, static_cast<int>(n / 2)>());
  }
}

/// Sum and maximum over the lanes, in a fixed order.
template <class A>
inline A sum_of(Vec<A> x) {
  return fold_lanes(x, [](auto low, auto high) { return low + high; });
}
template <class A>
inline A max_of(Vec<A> x) {
  return fold_lanes(x, [](auto low, auto high) { return low > high ? low : high; });
}

// Joins the rows of neighbours, n / size groups of `size` lanes each, until one row is left: a
// group's upper half is added to its lower one, and the groups of both rows stand side by side.
template <class A, int size, int... l>
inline Vec<A> fold_rows(Vec<A>* rows, std::integer_sequence<int, l...> lanes) {
  constexpr int half = size / 2;
  if constexpr (size == 1) {
    return rows[0];
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < size; i += 2) {
      const Vec<A> a = rows[i], b = rows[i + 1];
      rows[i / 2] = __builtin_shufflevector(a, b, (l / half * size + l % half)...) +
                    __builtin_shufflevector(a, b, (l / half * size + l % half + half)...);
    }
    return fold_rows<A, half>(rows, lanes);
  }
}

/// Lane i is sum_of(rows[i]), to the bit; the rows, as many as lanes, are overwritten.
template <class A>
inline Vec<A> sums_of(Vec<A>* rows) {
  constexpr int n = static_cast<int>(kLanes<A>);
  return fold_rows<A, n>(rows, std::make_integer_sequence<int, n>());
}

}  // namespace FARFIELD_LANES
}  // namespace farfield::lanes
