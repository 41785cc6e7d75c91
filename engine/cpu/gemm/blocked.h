#pragma once
// A panel of a product by register blocks, with operands packed or read where they are stored.

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "engine/cpu/gemm/panels.h"
#include "engine/cpu/pack.h"

namespace farfield::lanes {
inline namespace FARFIELD_LANES {

/// Columns that are packed together.
inline constexpr int64_t kPackedCols = kBlockCols<float>;

/// Products in float32 of operands of type T.
template <class Terms, class T>
class BlockedProduct {
 public:
  using Unit = typename Terms::Unit;

  /// Columns [n0, n0 + n) of B, n0 a multiple of kPackedCols: block after block of kPackedCols,
  /// each with all of the inner dimension.
  static void pack_b(const Gemm& p, int64_t n0, int64_t n, Unit* to) {
    PackedBlocks<Terms, kPackedCols, T>::pack(
        {static_cast<const T*>(p.b), p.ldb, p.transpose_b, p.k}, n0, n, 0, units_of<Terms>(p.k),
        to);
  }

  /// Whether blocks of B can be read where they are stored: whole ones, on cache lines of their
  /// own.
  static bool reads_b(const Gemm& p) {
    return std::is_same_v<T, Unit> && !p.transpose_b && p.n % kPackedCols == 0 &&
           p.ldb * static_cast<int64_t>(sizeof(T)) % kLine == 0 &&
           reinterpret_cast<uintptr_t>(p.b) % kLine == 0 && stays_cached(p.ldb, p.k);
  }

  /// Elements of the inner dimension that are summed before they are added to c.
  static int64_t slice(const Gemm& p) {
    return Terms::kElements * (p.transpose_a ? Slices<true>::kDepth : Slices<false>::kDepth);
  }

  /// p.m rows of c, p.n columns, whose B is packed, or with nullptr of a product of which
  /// reads_b() is true.
  static void multiply(const Gemm& p, const Unit* packed, float* c, int64_t ldc, bool accumulate) {
    if (p.transpose_a)
      Slices<true>(p, packed, c, ldc).multiply(accumulate);
    else
      Slices<false>(p, packed, c, ldc).multiply(accumulate);
  }

 private:
  /// Units of the inner dimension multiplied at a time: a block's rows of A stay in the first-level
  /// cache, a panel's columns of B in the second.
  static constexpr int64_t kMostDepth = 512;

  static constexpr int64_t kLine = 64;

  // Whether a line or two of each of n_row stored rows can be read again and again: rows at most a
  // page apart, which find room in half of the second-level cache's ways.
  static bool stays_cached(int64_t ld, int64_t n_row) {
    constexpr int64_t kSets = 2048, kWays = 8, kPage = 4096;
    const int64_t bytes = ld * static_cast<int64_t>(sizeof(T));
    return bytes <= kPage &&
           std::min(n_row, kMostDepth) * std::gcd(bytes / kLine, kSets) <= kSets * kWays / 2;
  }

  // B's blocks of columns.
  struct Blocks {
    const Unit* first;
    int64_t ld, step;  // from one unit of the inner dimension, and one block, to the next

    static Blocks of(const Gemm& p, const Unit* packed) {
      if (packed != nullptr) return {packed, kPackedCols, units_of<Terms>(p.k) * kPackedCols};
      return {static_cast<const Unit*>(p.b), p.ldb, kPackedCols};
    }
  };

  // A slice of the inner dimension after the other, in each the panel's rows block by block.
  template <bool kTransposed>
  class Slices {
   public:
    Slices(const Gemm& p, const Unit* packed, float* c, int64_t ldc)
        : a_{static_cast<const T*>(p.a), p.lda, !kTransposed, p.k},
          m_(p.m),
          n_(p.n),
          depth_(units_of<Terms>(p.k)),
          b_(Blocks::of(p, packed)),
          c_(c),
          ldc_(ldc),
          reads_a_(reads_a(p)) {}

    void multiply(bool accumulate) {
      const int64_t n_slice = (depth_ + kDepth - 1) / kDepth;
      const Cut slices{depth_, round_up((depth_ + n_slice - 1) / n_slice, 16)};
      for (int64_t s = 0; s < slices.count(); ++s, accumulate = true) {
        unit_ = slices.begin(s);
        n_unit_ = slices.length(s);
        if (kTransposed && !reads_a_)
          PackedBlocks<Terms, kBlockRows, T>::pack(a_, 0, m_, unit_, n_unit_, all_rows_.data());
        if (kKeepsColumns) {
          for (int64_t column = 0; column < n_; column += kPackedCols)
            for (int64_t row = 0; row < m_; row += kBlockRows)
              multiply_at(rows_at(row), column, accumulate);
        } else {
          for (int64_t row = 0; row < m_; row += kBlockRows) {
            const RowsOfA rows = rows_at(row);
            for (int64_t column = 0; column < n_; column += kPackedCols)
              multiply_at(rows, column, accumulate);
          }
        }
      }
    }

    // For a transposed A and vectors of 32 bytes: a block's columns of B, instead of its rows of A,
    // are multiplied with all others of the panel, and stay in the first-level cache.
    static constexpr bool kKeepsColumns = kTransposed && kVectorBytes == 32;
    static constexpr int64_t kDepth = kKeepsColumns ? kMostDepth / 2 : kMostDepth;

   private:
    // Rows a multiple of a page's part from each other would compete for the same cache lines.
    static constexpr int64_t kRowStride = kMostDepth + 16;

    // Whether blocks of A can be read where they are stored.
    static bool reads_a(const Gemm& p) {
      // Few rows' elements of a stored row are read at a time with vectors of 32 bytes: a copy is
      // worth its time unless few columns use it.
      constexpr int64_t kMostColumns = kKeepsColumns ? 4 * kPackedCols : INT64_MAX;
      if (kTransposed)
        return std::is_same_v<T, Unit> && p.n <= kMostColumns && stays_cached(p.lda, p.k);
      return rows_are_units<Terms>(Operand<T>{static_cast<const T*>(p.a), p.lda, true, p.k});
    }

    // Rows from `row` on as blocks take them, and lda.
    std::pair<const Unit*, int64_t> rows_from(int64_t row, int64_t n_row) {
      if (reads_a_)
        return {reinterpret_cast<const Unit*>(a_.at(row, unit_ * Terms::kElements)),
                kTransposed ? a_.ld : a_.ld / Terms::kElements};
      if constexpr (kTransposed) return {all_rows_.data() + row * n_unit_, kBlockRows};
      pack_rows<Terms>(a_, row, n_row, unit_, n_unit_, rows_, kRowStride);
      return {rows_, kRowStride};
    }

    struct RowsOfA {
      int64_t row, n;
      const Unit* data;
      int64_t ld;
    };
    RowsOfA rows_at(int64_t row) {
      const int64_t n_row = std::min<int64_t>(kBlockRows, m_ - row);
      const auto [data, ld] = rows_from(row, n_row);
      return {row, n_row, data, ld};
    }

    void multiply_at(const RowsOfA& rows, int64_t column, bool accumulate) {
      BlockProduct<Terms> block{rows.data,
                                rows.ld,
                                b_.first + unit_ * b_.ld + column / kPackedCols * b_.step,
                                b_.ld,
                                n_unit_,
                                1,
                                c_ + rows.row * ldc_ + column,
                                ldc_};
      block.ahead_unit = Terms::kElements * static_cast<int64_t>(sizeof(T));
      if (!kTransposed && column + kPackedCols >= n_) {  // the last: the next rows are fetched
        block.ahead =
            reinterpret_cast<const std::byte*>(a_.at(rows.row + rows.n, unit_ * Terms::kElements));
        block.ahead_ld = a_.ld * static_cast<int64_t>(sizeof(T));
      }
      if (column + kPackedCols <= n_)
        multiply_block_at(rows.n, block, accumulate);
      else
        multiply_last_block(rows.n, n_ - column, block, accumulate);
    }

    static void multiply_block_at(int64_t n_row, const BlockProduct<Terms>& block,
                                  bool accumulate) {
      constexpr int64_t kSumsOfLine = kLine / static_cast<int64_t>(sizeof(float));
      for (int64_t r = 0; r < n_row; ++r)
        for (int64_t j = 0; j < kPackedCols; j += kSumsOfLine)
          __builtin_prefetch(block.c + r * block.ldc + j, 1);
      if (accumulate)
        multiply_rows<Terms, kBlockVectors, kTransposed, Update::add_scaled>(n_row, block);
      else
        multiply_rows<Terms, kBlockVectors, kTransposed, Update::set>(n_row, block);
    }

    // Of fewer columns than are packed.
    static void multiply_last_block(int64_t n_row, int64_t n_column, BlockProduct<Terms> block,
                                    bool accumulate) {
      alignas(64) float sums[kBlockRows * kPackedCols];
      float* const c = std::exchange(block.c, sums);
      const int64_t ldc = std::exchange(block.ldc, kPackedCols);
      multiply_rows<Terms, kBlockVectors, kTransposed, Update::set>(n_row, block);
      for (int64_t r = 0; r < n_row; ++r)
        for (int64_t j = 0; j < n_column; ++j)
          c[r * ldc + j] = (accumulate ? c[r * ldc + j] : 0) + sums[r * kPackedCols + j];
    }

    const Operand<T> a_;
    const int64_t m_, n_, depth_;
    const Blocks b_;
    float* const c_;
    const int64_t ldc_;
    const bool reads_a_;
    int64_t unit_ = 0, n_unit_ = 0;  // of the slice
    // The panel's rows, where a row of op(A) is a column of A: a block's alone would read a part of
    // each cache line.
    Buffer<Unit> all_rows_{kTransposed && !reads_a_ ? round_up(m_, kBlockRows) * kMostDepth : 0};
    alignas(64) Unit rows_[kBlockRows * kRowStride];
  };
};

}  // namespace FARFIELD_LANES
}  // namespace farfield::lanes
