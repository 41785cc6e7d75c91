#pragma once
// Operands as register blocks take them: in units of the inner dimension (block_product.h), widened
// or paired on the way, one after the other in the order in which they are read.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/cpu/block_product.h"
#include "engine/cpu/widened.h"
#include "engine/dtype.h"

namespace farfield::lanes {
inline namespace FARFIELD_LANES {

/// A stored operand as a matrix [outer, inner]: rows of op(A), columns of op(B).
template <class T>
struct Operand {
  const T* data;
  int64_t ld;                ///< elements from one stored row to the next
  bool inner_is_contiguous;  ///< a stored row is along the inner dimension
  int64_t n_inner;

  const T* at(int64_t outer, int64_t inner) const {
    return data + (inner_is_contiguous ? outer * ld + inner : inner * ld + outer);
  }
  /// The next element along the inner dimension; null behind the last.
  const T* behind(const T* x, int64_t inner) const {
    if (inner + 1 >= n_inner) return nullptr;
    return x + (inner_is_contiguous ? 1 : ld);
  }
};

/// Units along an inner dimension of so many elements.
template <class Terms>
constexpr int64_t units_of(int64_t n_inner) {
  return (n_inner + Terms::kElements - 1) / Terms::kElements;
}

/// Units from elements of type T.
template <class Terms, class T>
struct Units;

template <class A, class T>
struct Units<Elements<A>, T> {
  static A one(const T* x, const T*) { return static_cast<A>(*x); }
  template <class V>
  static V vector(const T* x, const T*) {
    if constexpr (std::is_same_v<T, A>) {
      V v;
      std::memcpy(&v, x, sizeof v);
      return v;
    } else {
      return widened<V>(x);
    }
  }
};

#if defined(__AVX512BF16__)
template <>
struct Units<Bf16Pairs, BFloat16> {
  static uint32_t one(const BFloat16* x, const BFloat16* y) {
    return bits(x) | (y == nullptr ? 0 : bits(y) << 16);
  }
  /// to[0], ..., to[n - 1], n <= 16; nothing behind is read or written.
  static void copy(const BFloat16* x, const BFloat16* y, int64_t n, uint32_t* to) {
    const auto mask = static_cast<__mmask16>((1U << n) - 1);
    const auto wide = [&](const BFloat16* from) {
      return _mm512_maskz_cvtepu16_epi32(mask, _mm256_maskz_loadu_epi16(mask, from));
    };
    __m512i words = wide(x);
    if (y != nullptr) words = _mm512_or_si512(words, _mm512_maskz_slli_epi32(mask, wide(y), 16));
    _mm512_mask_storeu_epi32(to, mask, words);
  }

 private:
  static uint32_t bits(const BFloat16* x) {
    uint16_t word;
    std::memcpy(&word, x, sizeof word);
    return word;
  }
};
#endif

/// A vector V of units whose elements are contiguous.
template <class Terms, class V = Vec<typename Terms::Sum>, class T>
V units_in_row(const T* row) {
  if constexpr (Terms::kElements * sizeof(T) == sizeof(typename Terms::Unit)) {
    V x;
    std::memcpy(&x, row, sizeof x);
    return x;
  } else {
    return Units<Terms, T>::template vector<V>(row, nullptr);
  }
}

/// Whether an operand's rows along a contiguous inner dimension are rows of units where they are
/// stored, and not a multiple of a page apart: these would compete for the same lines of the first
/// cache.
template <class Terms, class T>
bool rows_are_units(const Operand<T>& from) {
  using Unit = typename Terms::Unit;
  constexpr int64_t kElements = Terms::kElements, kPage = 4096;
  return kElements * sizeof(T) == sizeof(Unit) && from.n_inner % kElements == 0 &&
         from.ld % kElements == 0 && reinterpret_cast<uintptr_t>(from.data) % sizeof(Unit) == 0 &&
         from.ld * static_cast<int64_t>(sizeof(T)) % kPage != 0;
}

/// Units [unit, unit + n_unit) of rows [first, first + n) of an operand, each row's side by side:
/// to[r * stride + u]. The operand's inner dimension is contiguous.
template <class Terms, class T>
void pack_rows(const Operand<T>& from, int64_t first, int64_t n, int64_t unit, int64_t n_unit,
               typename Terms::Unit* to, int64_t stride) {
  constexpr int64_t kElements = Terms::kElements, kWidth = kLanes<typename Terms::Sum>;
  const int64_t begin = unit * kElements, whole = std::min(n_unit, from.n_inner / kElements - unit);
  for (int64_t r = 0; r < n; ++r, to += stride) {
    const T* const row = from.at(first + r, begin);
    int64_t u = 0;
    const auto copy = [&](auto v) { std::memcpy(to + u, &v, sizeof v); };
    for (; u + kWidth <= whole; u += kWidth) copy(units_in_row<Terms>(row + u * kElements));
    if (u + kWidth / 2 <= whole) {
      copy(units_in_row<Terms, HalfVec<typename Terms::Sum>>(row + u * kElements));
      u += kWidth / 2;
    }
    for (; u < whole; ++u) {
      const T* const x = row + u * kElements;
      to[u] = Units<Terms, T>::one(x, kElements > 1 ? x + 1 : nullptr);
    }
    if (whole < n_unit) to[whole] = Units<Terms, T>::one(row + whole * kElements, nullptr);
  }
}

/// The same in blocks of W rows, a block's side by side for each unit: row r, unit u of a block is
/// at to[u * W + r] and the next block n_unit * W further. Rows beyond n are zeros.
template <class Terms, int64_t W, class T>
class PackedBlocks {
 public:
  using Unit = typename Terms::Unit;

  static void pack(const Operand<T>& from, int64_t first, int64_t n, int64_t unit, int64_t n_unit,
                   Unit* to) {
    const PackedBlocks blocks{from, first, unit, n_unit, to};
    const int64_t whole = n / W * W;
    if (from.inner_is_contiguous)
      for (int64_t r = 0; r < whole; r += W) blocks.turn(r);
    else
      for (int64_t r = 0; r < whole; r += kGroup)
        for (int64_t u = 0; u < n_unit; ++u) blocks.copy(r, std::min(whole - r, kGroup), u);
    if (whole == n) return;
    Unit* const last = blocks.at(whole, 0);
    std::fill(last, last + n_unit * W, Unit{0});
    if (from.inner_is_contiguous) return blocks.one_by_one(whole, n, 0);
    if constexpr (kCopies) {
      for (int64_t u = 0; u < n_unit; ++u) {
        const T* const x = blocks.element(whole, u);
        copy_rows(x, blocks.second(x, u), n - whole, blocks.at(whole, u));
      }
    } else {
      const int64_t vectors = kIsWhole ? n / kWidth * kWidth : whole;
      if (vectors > whole) blocks.copy_vectors(whole, vectors);
      blocks.one_by_one(vectors, n, 0);
    }
  }

 private:
  using Make = Units<Terms, T>;
  static constexpr int64_t kElements = Terms::kElements;
  using Sum = typename Terms::Sum;
  static constexpr int64_t kWidth = kLanes<Sum>;
  static constexpr bool kIsWhole = W % kWidth == 0;  // in vectors
  static constexpr bool kCopies = kElements > 1;     // Make copies any number of rows
  static constexpr int64_t kGroup = 4 * W;           // rows that copy() copies

  PackedBlocks(const Operand<T>& from, int64_t first, int64_t unit, int64_t n_unit, Unit* to)
      : from_(from), first_(first), unit_(unit), n_unit_(n_unit), to_(to) {}

  Unit* at(int64_t row, int64_t u) const { return to_ + row / W * n_unit_ * W + u * W + row % W; }
  const T* element(int64_t row, int64_t u) const {
    return from_.at(first_ + row, (unit_ + u) * kElements);
  }
  // Of a unit of two elements; null for one.
  const T* second(const T* x, int64_t u) const {
    return kElements == 1 ? nullptr : from_.behind(x, (unit_ + u) * kElements);
  }

  void one_by_one(int64_t r0, int64_t r1, int64_t u0) const {
    for (int64_t u = u0; u < n_unit_; ++u)
      for (int64_t r = r0; r < r1; ++r) {
        const T* const x = element(r, u);
        *at(r, u) = Make::one(x, second(x, u));
      }
  }

  // A unit of whole blocks, whose rows lie side by side: a few, since all of them, often a multiple
  // of a page apart, would compete for the same lines of the cache.
  void copy(int64_t r0, int64_t rows, int64_t u) const {
    const T *x = element(r0, u), *y = second(x, u);
    // Rows far apart, which no hardware foresees.
    constexpr int64_t kAhead = 16, kLine = 64 / static_cast<int64_t>(sizeof(T));
    for (int64_t e = 0; e < kElements; ++e)
      for (int64_t r = 0; r < rows; r += kLine)
        __builtin_prefetch(x + (kAhead * kElements + e) * from_.ld + r);
    for (Unit* to = at(r0, u); rows > 0; rows -= W, to += n_unit_ * W, x += W) {
      if constexpr (kCopies)
        copy_rows(x, y, W, to);
      else
        copy_units<0>(x, y, to);
      if (y != nullptr) y += W;
    }
  }
  // n rows of a block.
  static void copy_rows(const T* x, const T* y, int64_t n, Unit* to) {
    for (int64_t r = 0; r < n; r += kWidth)
      Make::copy(x + r, y == nullptr ? nullptr : y + r, std::min(n - r, kWidth), to + r);
  }
  // Whole vectors of rows of one block, whose rows lie side by side.
  void copy_vectors(int64_t r0, int64_t r1) const {
    for (int64_t u = 0; u < n_unit_; ++u)
      for (int64_t r = r0; r < r1; r += kWidth) {
        const T* const x = element(r, u);
        const auto v = Make::template vector<Vec<Sum>>(x, second(x, u));
        std::memcpy(at(r, u), &v, sizeof v);
      }
  }
  // Units [r, W), in vectors of 64, 32 and 16 bytes.
  template <int64_t r>
  static void copy_units(const T* x, const T* y, Unit* to) {
    constexpr int64_t kRest = (W - r) * static_cast<int64_t>(sizeof(Unit));
    constexpr int64_t kBytes = std::min<int64_t>(kVectorBytes, kRest >= 64   ? 64
                                                               : kRest >= 32 ? 32
                                                               : kRest >= 16 ? 16
                                                                             : 0);
    if constexpr (kBytes > 0) {
      typedef Sum V __attribute__((vector_size(kBytes)));
      const V v = Make::template vector<V>(x + r, y == nullptr ? nullptr : y + r);
      std::memcpy(to + r, &v, sizeof v);
      copy_units<r + kBytes / static_cast<int64_t>(sizeof(Unit))>(x, y, to);
    } else {
      for (int64_t i = r; i < W; ++i) to[i] = Make::one(x + i, y == nullptr ? nullptr : y + i);
    }
  }

  // A whole block, whose units lie side by side: squares of as many rows as units, or two of half
  // the size, are turned in registers, where bits are moved, whatever they mean. Out of line: a
  // square has all registers.
  [[gnu::noinline]] void turn(int64_t row) const {
    int64_t done = 0;
    if constexpr (kIsWhole) {
      const int64_t whole = std::min(n_unit_, from_.n_inner / kElements - unit_);
      for (; done + kWidth <= whole; done += kWidth) turn_units<kWidth>(row, done);
      if (done + kWidth / 2 <= whole) {
        turn_units<kWidth / 2>(row, done);
        done += kWidth / 2;
      }
    }
    one_by_one(row, row + W, done);
  }
  template <int64_t n>
  void turn_units(int64_t row, int64_t u) const {
    for (int64_t r = row; r < row + W; r += kWidth) {
      Vec<Sum> square[n];
#pragma GCC unroll 16
      for (int64_t i = 0; i < n; ++i) {
        const T* const x = element(r + i, u);
        __builtin_prefetch(x + W * from_.ld);  // for the next block
        if constexpr (n == kWidth) {
          square[i] = units_in_row<Terms>(x);
        } else {
          const T* const y = element(r + n + i, u);
          __builtin_prefetch(y + W * from_.ld);
          square[i] = joined<Sum>(units_in_row<Terms, HalfVec<Sum>>(x),
                                  units_in_row<Terms, HalfVec<Sum>>(y));
        }
      }
      transpose<Sum, static_cast<int>(n)>(square);
#pragma GCC unroll 16
      for (int64_t i = 0; i < n; ++i) std::memcpy(at(r, u + i), &square[i], sizeof square[i]);
    }
  }
  const Operand<T>& from_;
  int64_t first_, unit_, n_unit_;
  Unit* to_;
};

}  // namespace FARFIELD_LANES
}  // namespace farfield::lanes
