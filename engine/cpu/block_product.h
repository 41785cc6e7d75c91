#pragma once
// The matrix product of a register block: a few rows of C by a few vectors of its columns, whose
// sums stay in registers over the whole inner dimension.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/cpu/lanes.h"
#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace farfield::lanes {
inline namespace FARFIELD_LANES {

/// Rows and vectors of a register block: their product is the number of accumulators.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int kBlockRows = 12;
#else
inline constexpr int kBlockRows = 6;
#endif
inline constexpr int kBlockVectors = 2;
template <class A>
inline constexpr int64_t kBlockCols = kBlockVectors* kLanes<A>;

/// The smallest multiple of `step` that is not below n.
constexpr int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

/// A step of the inner dimension is one element: sum += a * b by FMA.
template <class A>
struct Elements {
  using Unit = A;  ///< of an operand, for one step
  using Sum = A;
  using Row = Vec<A>;

  static constexpr int64_t kElements = 1;  ///< of a unit, along the inner dimension
  static Row load_row(const Unit* from) { return load(from); }
  static Row splat_unit(Unit x) { return splat(x); }
  static void add(Vec<Sum>& sum, Row left, Row right) { sum += left * right; }
};

#if defined(__AVX512BF16__)
/// A step is a pair of bfloat16, the first in the lower half: sum += a0 b0 + a1 b1 in float32 by
/// VDPBF16PS, which takes denormal numbers for 0.
struct Bf16Pairs {
  using Unit = uint32_t;
  using Sum = float;
  using Row = IntVec<float>;

  static constexpr int64_t kElements = 2;
  static Row load_row(const Unit* from) {
    Row x;
    std::memcpy(&x, from, sizeof x);
    return x;
  }
  static Row splat_unit(Unit x) { return static_cast<int32_t>(x) - Row{}; }
  static void add(Vec<Sum>& sum, Row left, Row right) {
    sum = reinterpret_cast<Vec<Sum>>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(sum),
                                                      reinterpret_cast<__m512bh>(left),
                                                      reinterpret_cast<__m512bh>(right)));
  }

  /// Units of neighbours, x first, rounded to the nearest.
  static Row in_row(Vec<Sum> x, Vec<Sum> next) { return reinterpret_cast<Row>(rounded(x, next)); }
  /// Units of the same lanes, x first, rounded to the nearest.
  static Row in_lanes(Vec<Sum> x, Vec<Sum> y) {
    return [both = rounded(x, y)]<int... l>(std::integer_sequence<int, l...>) {
      return reinterpret_cast<Row>(
          __builtin_shufflevector(both, both, (l / 2 + l % 2 * static_cast<int>(kLanes<Sum>))...));
    }
    (std::make_integer_sequence<int, 2 * kLanes<Sum>>());
  }

 private:
  typedef uint16_t Words __attribute__((vector_size(64)));
  static Words rounded(Vec<Sum> low, Vec<Sum> high) {
    return reinterpret_cast<Words>(
        _mm512_cvtne2ps_pbh(reinterpret_cast<__m512>(high), reinterpret_cast<__m512>(low)));
  }
};
#endif

/// The use of a register block's product.
enum class Update { set, add_scaled };

/// c = or += alpha * op(a) b, for a few rows of c. Unit k of row r of a is at a[r * lda + k], or,
/// when transposed, at a[k * lda + r]; b[k, :] at b + k * ldb; c[r, :] at c + r * ldc.
template <class Terms>
struct BlockProduct {
  const typename Terms::Unit* a;
  int64_t lda;
  const typename Terms::Unit* b;
  int64_t ldb;
  int64_t depth;  ///< in units
  typename Terms::Sum alpha;
  typename Terms::Sum* c;
  int64_t ldc;
  /// 16 rows to fetch into the cache meanwhile, unless a is transposed; null: none. They may lie
  /// beyond the operand's end.
  const std::byte* ahead = nullptr;
  int64_t ahead_ld = 0, ahead_unit = 0;  ///< bytes from one row, and one unit, to the next
};

/// For R rows and kVectors whole vectors of columns. Out of line, and its arguments in memory, so
/// that the compiler has every register for the sums; its loops with constant bounds are unrolled,
/// so that these are no array in memory. The test vector_moves holds that they stay in registers.
template <class Terms, int R, int kVectors, bool kTransposed, Update kUpdate>
[[gnu::noinline]] void multiply_block(const BlockProduct<Terms>& p) {
  using Sum = typename Terms::Sum;
  constexpr int64_t kWidth = kLanes<Sum>;
  Vec<Sum> sum[R][kVectors] = {};
  const typename Terms::Unit *a = p.a, *b = p.b;
  const int64_t lda = p.lda, ldb = p.ldb, step = kTransposed ? lda : 1;
  [[maybe_unused]] constexpr int64_t kAhead = 12;  // steps in which a line of A arrives
  // One prefetch a step: of many at once, most would be dropped.
  [[maybe_unused]] const auto* ahead =
      p.ahead != nullptr ? p.ahead : reinterpret_cast<const std::byte*>(a);
  [[maybe_unused]] const int64_t ahead_ld = p.ahead_ld, ahead_unit = p.ahead_unit;
  for (int64_t k = p.depth; k > 0; --k, a += step, b += ldb) {
    // Rows are addressed from three of them. Compilers would keep a pointer for each of twelve, in
    // too few registers, if they knew where these point.
    const typename Terms::Unit *a4 = a + 4 * lda, *a8 = a + 8 * lda;
    if constexpr (kTransposed) {
      __builtin_prefetch(a + kAhead * lda);
    } else {
      asm("" : "+r"(a), "+r"(a4), "+r"(a8));
      __builtin_prefetch(ahead + k % 16 * ahead_ld);
      ahead += ahead_unit;
    }
    typename Terms::Row row[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) row[v] = Terms::load_row(b + v * kWidth);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const auto* const from = r < 4 ? a : r < 8 ? a4 : a8;
      const auto left = Terms::splat_unit(kTransposed ? a[r] : from[r % 4 * lda]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) Terms::add(sum[r][v], left, row[v]);
    }
  }
  Sum* const c = p.c;
  const int64_t ldc = p.ldc;
  [[maybe_unused]] const Vec<Sum> alpha = splat(p.alpha);
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      Sum* const to = c + r * ldc + v * kWidth;
      if constexpr (kUpdate == Update::set)
        store<Sum>(to, sum[r][v]);
      else
        store<Sum>(to, load(to) + sum[r][v] * alpha);
    }
}

/// multiply_block for 1 <= rows <= kBlockRows.
template <class Terms, int kVectors, bool kTransposed, Update kUpdate>
inline void multiply_rows(int64_t rows, const BlockProduct<Terms>& p) {
  using Function = void (*)(const BlockProduct<Terms>&);
  static constexpr auto kFunctions = []<int... R>(std::integer_sequence<int, R...>) {
    return std::array<Function, kBlockRows>{
        multiply_block<Terms, R + 1, kVectors, kTransposed, kUpdate>...};
  }
  (std::make_integer_sequence<int, kBlockRows>());
  kFunctions[static_cast<size_t>(rows - 1)](p);
}

}  // namespace FARFIELD_LANES
}  // namespace farfield::lanes
