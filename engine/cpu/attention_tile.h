#pragma once
// The matrix products of one attention tile: register-blocked, and limited to the pairs that see
// each other.

#include <algorithm>
#include <cstdint>

#include "engine/cpu/block_product.h"

namespace farfield::attention_cpu {

using namespace lanes;

/// Queries and keys of a tile: a multiple of kBlockRows and of every kBlockCols.
inline constexpr int64_t kTile = 96;
/// Queries whose scores are worked on while they are in the first-level cache.
inline constexpr int64_t kStrip = 24;

struct Range {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
  int64_t size() const { return end - begin; }
};

/// Which of a tile's queries see which of its keys. The distance of query i and key j is
/// offset + i - j; i sees j when 0 <= distance and (window == 0 or distance < window or j < sinks).
struct TileView {
  int64_t rows = 0, cols = 0;
  int64_t offset = 0;
  int64_t window = 0;
  int64_t sinks = 0;
  int64_t position = 0;  ///< of query 0

  /// Queries [i, i + n) of it.
  TileView queries(int64_t i, int64_t n) const {
    TileView part = *this;
    part.rows = std::min(n, rows - i);
    part.offset += i;
    part.position += i;
    return part;
  }
  bool sees_nothing() const {
    return rows <= 0 || cols <= 0 || offset + rows - 1 < 0 ||
           (window > 0 && sinks <= 0 && offset - (cols - 1) >= window);
  }
  /// Every query sees keys [0, padded_cols).
  bool sees_all(int64_t padded_cols) const {
    return offset - (padded_cols - 1) >= 0 && (window == 0 || offset + rows - 1 < window);
  }
  /// Sinks must be handled one by one, because the window hides some of them.
  bool has_open_sinks() const { return window > 0 && sinks > 0 && offset + rows - 1 >= window; }
  /// Keys outside this range are seen by none of the queries [i, i + n).
  Range keys_of(int64_t i, int64_t n) const {
    const bool bounded = window > 0 && sinks <= 0;
    return {bounded ? std::clamp(offset + i - window + 1, int64_t{0}, cols) : 0,
            std::clamp(offset + i + n, int64_t{0}, cols)};
  }
  /// Queries outside this range see none of the keys [j, j + n).
  Range queries_of(int64_t j, int64_t n) const {
    const bool bounded = window > 0 && sinks <= 0;
    return {std::clamp(j - offset, int64_t{0}, rows),
            bounded ? std::clamp(j + n - 1 + window - offset, int64_t{0}, rows) : rows};
  }
};

/// The right-hand side of a product over queries or keys: unit k of column x is at
/// data[x / kBlockCols * step + k * ld + x % kBlockCols].
template <class Unit>
struct Columns {
  const Unit* data = nullptr;
  int64_t ld = 0, step = 0;

  /// From a unit on.
  Columns from(int64_t unit) const { return {data + unit * ld, ld, step}; }
};

/// multiply_rows for `width` columns, a multiple of the lanes; `step` from one block of columns of
/// b to the next.
template <class Terms, bool kTransposed>
void add_product(int64_t rows, int64_t width, int64_t step, BlockProduct<Terms> p) {
  constexpr int64_t kCols = kBlockCols<typename Terms::Sum>;
  int64_t x = 0;
  for (; x + kCols <= width; x += kCols) {
    multiply_rows<Terms, kBlockVectors, kTransposed, Update::add_scaled>(rows, p);
    p.b += step;
    p.c += kCols;
  }
  if (x < width) multiply_rows<Terms, 1, kTransposed, Update::add_scaled>(rows, p);
}

/// The units that have elements of a range.
template <class Terms>
Range units_of_range(const Range& elements) {
  return {elements.begin / Terms::kElements,
          (elements.end + Terms::kElements - 1) / Terms::kElements};
}

/// The keys that one of the queries [i, i + n) sees, rounded out: from the first key of a block of
/// columns to the last key of a vector.
template <class A>
Range score_columns(const TileView& view, int64_t i, int64_t n) {
  const Range keys = view.keys_of(i, n);
  if (keys.empty()) return {};
  return {keys.begin / kBlockCols<A> * kBlockCols<A>, round_up(keys.end, kLanes<A>)};
}

/// c[i, j] = sum over k of a[i, k] b[j, k] for the score_columns of every kBlockRows rows. b comes
/// packed by pack_keys, and the inner dimension has `depth` units.
template <class Terms>
void tile_scores(const TileView& view, const typename Terms::Unit* a, int64_t lda,
                 const typename Terms::Unit* packed, int64_t depth, typename Terms::Sum* c,
                 int64_t ldc) {
  using Sum = typename Terms::Sum;
  constexpr int64_t kCols = kBlockCols<Sum>;
  for (int64_t j = 0; j < view.cols; j += kCols)
    for (int64_t i = 0; i < view.rows; i += kBlockRows) {
      const int64_t n = std::min<int64_t>(kBlockRows, view.rows - i);
      const Range columns = score_columns<Sum>(view, i, n);
      if (columns.begin >= j + kCols || columns.end <= j) continue;
      const BlockProduct<Terms> block{a + i * lda, lda, packed + j * depth, kCols,
                                      depth,       1,   c + i * ldc + j,    ldc};
      if (columns.end - j > kLanes<Sum>)
        multiply_rows<Terms, kBlockVectors, false, Update::set>(n, block);
      else
        multiply_rows<Terms, 1, false, Update::set>(n, block);
    }
}

/// c[i, x] += alpha * sum over keys j of p[i, j] b[j, x], x < width, a multiple of the lanes. p and
/// b are in units along the keys; pairs that do not see each other are zeros in p.
template <class Terms>
void add_over_keys(const TileView& view, const typename Terms::Unit* p, int64_t ldp,
                   const Columns<typename Terms::Unit>& b, int64_t width, typename Terms::Sum alpha,
                   typename Terms::Sum* c, int64_t ldc) {
  for (int64_t i = 0; i < view.rows; i += kBlockRows) {
    const int64_t n = std::min<int64_t>(kBlockRows, view.rows - i);
    const Range keys = view.keys_of(i, n);
    if (keys.empty()) continue;
    const Range units = units_of_range<Terms>(keys);
    add_product<Terms, false>(n, width, b.step,
                              {p + i * ldp + units.begin, ldp, b.from(units.begin).data, b.ld,
                               units.size(), alpha, c + i * ldc, ldc});
  }
}

/// c[j, x] += alpha * sum over queries i of p[i, j] b[i, x], x < width, a multiple of the lanes. p
/// and b are in units along the queries.
template <class Terms>
void add_over_queries(const TileView& view, const typename Terms::Unit* p, int64_t ldp,
                      const Columns<typename Terms::Unit>& b, int64_t width,
                      typename Terms::Sum alpha, typename Terms::Sum* c, int64_t ldc) {
  constexpr int64_t kCols = kBlockCols<typename Terms::Sum>;
  // Columns outermost: the rows of b that they need stay in the first-level cache.
  for (int64_t x = 0; x < width; x += kCols)
    for (int64_t j = 0; j < view.cols; j += kBlockRows) {
      const int64_t n = std::min<int64_t>(kBlockRows, view.cols - j);
      const Range queries = view.queries_of(j, n);
      if (queries.empty()) continue;
      const Range units = units_of_range<Terms>(queries);
      add_product<Terms, true>(
          n, std::min(kCols, width - x), b.step,
          {p + units.begin * ldp + j, ldp, b.from(units.begin).data + x / kCols * b.step, b.ld,
           units.size(), alpha, c + j * ldc + x, ldc});
    }
}

}  // namespace farfield::attention_cpu
