#pragma once

#include <optional>

#include "engine/cpu/attention_dropped_pairs.h"
#include "engine/cpu/attention_gradient.h"
#include "engine/cpu/attention_table_sums.h"
#include "engine/cpu/attention_units.h"

namespace farfield::attention_cpu {

/// Where dq, dk and dv are summed: the outputs themselves, or, when these are narrower or not whole
/// vectors, buffers for as many heads as a fixed amount of memory holds.
template <class A>
struct Sums {
  A *dq = nullptr, *dk = nullptr, *dv = nullptr;
  A *far_dq = nullptr, *far_dk = nullptr;  ///< null without far copies
  HeadRows q, k;                           ///< of dq and far_dq; of the others: one row_step
};

/// [n, width] at `stride` from each other = 0.
template <class A>
void clear_rows(A* rows, int64_t n, int64_t width, int64_t stride) {
  if (stride == width) return static_cast<void>(std::fill_n(rows, n * width, A{0}));
  for (int64_t i = 0; i < n; ++i) std::fill_n(rows + i * stride, width, A{0});
}

/// One backward pass.
template <class T>
struct Backward {
  using A = Accumulate<T>;
  const Problem<T>& p;
  const T* dout;
  const T* out;
  RowValues<A> rows;  ///< without dots
  Chunks chunks;
  const TableSums<A>&bias, &weight;
  const RowBiasSums<T>& row_bias;
  Sums<A> sums = {};
  int64_t first_head = 0;  ///< the head that the sums begin with

  /// Minus the penalty's term in dP of row i, for a relu normaliser; sums[i] is the row's sum of P.
  A penalty_dot(const A* row_sums, int64_t i) const {
    if (!row_sums) return 0;
    return -penalty_gradient<A>(p.normalizer.penalty, p.heads() * p.n_query, row_sums[i]);
  }
};

/// sum over x of a[x] * b[x], in an order fixed by n.
template <class T, class A = Accumulate<T>>
A dot(const T* a, const T* b, int64_t n) {
  constexpr int64_t kWidth = kLanes<A>;
  Vec<A> sum{};
  int64_t x = 0;
  for (; x + kWidth <= n; x += kWidth) sum += load_wide(a + x) * load_wide(b + x);
  A total = sum_of<A>(sum);
  for (; x < n; ++x) total += static_cast<A>(a[x]) * static_cast<A>(b[x]);
  return total;
}

/// Rows of queries as products take them.
template <class Terms>
struct QueryRows {
  using Unit = typename Terms::Unit;
  Rows<Unit> of_scores = {};        ///< in units along head_dim
  Columns<Unit> of_gradients = {};  ///< in units along the queries

  /// Elements of working memory.
  static int64_t size(int64_t rows, int64_t width) {
    return rows * width + (Terms::kElements == 1 ? 0 : columns_size<Terms>(rows, width));
  }
  template <class T>
  static QueryRows of(const T* from, int64_t stride, int64_t rows, int64_t head_dim, int64_t width,
                      Scratch& scratch) {
    Unit* const buffer = scratch.take<Unit>(rows * width);
    if constexpr (Terms::kElements == 1) {
      const Rows<Unit> same = rows_of(from, stride, rows, head_dim, width, buffer);
      return {same, {same.data, same.stride, kBlockCols<Unit>}};
    } else {
      return {score_rows<Terms>(from, stride, rows, head_dim, width, buffer),
              columns_of<Terms>(from, stride, rows, head_dim, width,
                                scratch.take<Unit>(columns_size<Terms>(rows, width)))};
    }
  }
};

/// add_over_queries of a tile, whose first query is the first of b. units: working memory.
template <class Terms, class A>
void add_tile_over_queries(const TileView& view, const A* tile,
                           const Columns<typename Terms::Unit>& b, int64_t width, A alpha, A* c,
                           int64_t ldc, typename Terms::Unit* units) {
  const auto rows = units_over_queries<Terms>(view, tile, kScoreStride, units);
  add_over_queries<Terms>(view, rows.data, rows.stride, b, width, alpha, c, ldc);
}

/// One branch of a unit: the queries, the keys of a tile, and their gradients. Terms: of the
/// products.
template <class T, class Terms>
struct UnitBranch {
  using A = Accumulate<T>;
  using Unit = typename Terms::Unit;
  const T* k = nullptr;  // the unit's first key
  QueryRows<Terms> q = {};
  Unit* key_cols = nullptr;  // working memory, kTile * width
  Unit* key_rows = nullptr;  // the same, columns_size of kTile rows
  Columns<Unit> keys = {};   // of the tile
  A *dq = nullptr, *dk = nullptr;

  Factors<Unit> from(int64_t i) const {
    return {q.of_scores.data ? q.of_scores.row(i) : nullptr, q.of_scores.stride, key_cols};
  }

  // The tile that begins with key j.
  void pack(const Problem<T>& p, int64_t j, int64_t cols) {
    const int64_t stride = p.k_rows.row_step;
    const T* const first = k + j * stride;
    pack_keys<Terms>(first, stride, cols, p.head_dim, key_cols);
    keys = columns_of<Terms>(first, stride, cols, p.head_dim, p.width, key_rows);
  }
  // For the tile of query i and key j, from the gradient of its dot products. units: working
  // memory.
  void add_gradients(const TileView& view, const A* grad, A scale, int64_t width, int64_t i,
                     int64_t j, int64_t stride, Unit* units) const {
    add_tile_over_queries<Terms>(view, grad, q.of_gradients.from(i / Terms::kElements), width,
                                 scale, dk + j * stride, stride, units);
    const Rows<Unit> rows = units_over_keys<Terms>(view, grad, kScoreStride, units);
    add_over_keys<Terms>(view, rows.data, rows.stride, keys, width, scale, dq + i * stride, stride);
  }
};

/// Keys of chunk c against queries of chunk c + round, for one head. Round 0 clears the sums of
/// queries and keys.
template <class T, class Terms>
void backward_unit(const Backward<T>& b, int64_t head, int64_t c, int64_t round) {
  using A = Accumulate<T>;
  using Unit = typename Terms::Unit;
  const Problem<T>& p = b.p;
  const int64_t width = p.width, local = head - b.first_head, stride = b.sums.q.row_step;
  const Range keys = b.chunks.keys(p, c), queries = b.chunks.queries(p, c + round);
  const int64_t begin = queries.begin, rows = queries.size();
  const int64_t batch = head / p.n_head;
  const TablePart<A> dbias = b.bias.cleared_part(head, batch, c, round);
  const TablePart<A> dweight = b.weight.cleared_part(head, batch, c, round);
  const int64_t q_at = b.sums.q.at(local, begin), k_at = b.sums.k.at(local, keys.begin);
  A* const dv = b.sums.dv + k_at;
  const bool has_far = p.far_q != nullptr;

  const int64_t n_tile = 4 + (has_far ? 1 : 0) + (b.row_bias.wants_feature() ? 1 : 0);
  const int64_t sum_size = b.row_bias.sum_size();
  const int64_t query_size = QueryRows<Terms>::size(rows, width);
  const int64_t branch_size = query_size + kTile * width + columns_size<Terms>(kTile, width);
  constexpr int64_t kUnits = tile_units_size<Terms>(kTile, kScoreStride);
  const int64_t sizes = (has_far ? 2 : 1) * branch_size + query_size + rows + kTile * width +
                        n_tile * kTileSize + kUnits + TileTerms<A>::kBufferSize + sum_size;
  Scratch scratch(sizes * static_cast<int64_t>(sizeof(A)));
  const auto branch = [&](const T* q, const T* k, A* dq, A* dk) {
    if (round == 0) {
      clear_rows(dq + q_at, rows, width, stride);
      clear_rows(dk + k_at, keys.size(), width, stride);
    }
    const T* const first = q + p.q_at(head, begin);
    UnitBranch<T, Terms> made;
    made.k = k + p.k_at(head, keys.begin);
    made.q = QueryRows<Terms>::of(first, p.q_rows.row_step, rows, p.head_dim, width, scratch);
    made.key_cols = scratch.take<Unit>(kTile * width);
    made.key_rows = scratch.take<Unit>(columns_size<Terms>(kTile, width));
    made.dq = dq + q_at;
    made.dk = dk + k_at;
    return made;
  };
  UnitBranch<T, Terms> near = branch(p.q, p.k, b.sums.dq, b.sums.dk), far;
  if (has_far) far = branch(p.far_q, p.far_k, b.sums.far_dq, b.sums.far_dk);
  if (round == 0) {
    clear_rows(dv, keys.size(), width, stride);
    if (!b.chunks.has_work(p, c, round)) return;
  }

  const int64_t first_row = p.token_row(head, begin);
  const auto dout =
      QueryRows<Terms>::of(b.dout + first_row, p.token_stride(), rows, p.head_dim, width, scratch);
  A* const dots = scratch.take<A>(rows);
  RowValues<A> row_values = b.rows.from(head * p.n_query + begin);
  row_values.dot = dots;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t at = first_row + i * p.token_stride();
    dots[i] = p.normalizer.divides_by_sum() ? dot(b.dout + at, b.out + at, p.head_dim)
                                            : b.penalty_dot(row_values.sum, i);
  }
  Unit* const value_cols = scratch.take<Unit>(kTile * width);
  Unit* const units = scratch.take<Unit>(kUnits);
  const RowBiasPart<A> row_bias =
      b.row_bias.cleared_part(head, c, round, scratch.take<A>(sum_size));
  const auto tile = [&](bool is_needed) -> A* {
    if (!is_needed) return nullptr;
    A* const memory = scratch.take<A>(kTileSize);
    std::fill_n(memory, kMargin, A{0});
    return memory + kMargin;
  };
  Tiles<A> tiles{};
  tiles.prob = tile(true);
  tiles.grad = tile(true);
  const bool is_split = p.row_scale || p.weight;
  tiles.dbias = is_split && (dbias || row_bias) ? tile(true) : tiles.grad;
  tiles.dweight = tile(static_cast<bool>(dweight));
  tiles.dfeature = tile(b.row_bias.wants_feature());
  tiles.keeps_diagonals = dbias || dweight || tiles.dfeature;
  A* const far_tile = tile(has_far);  // the far pairs' dot products, then their gradients
  const Entries entries = p.entries_of(batch);
  TileTerms<A> terms(p.terms_of(head), scratch.take<A>(terms.kBufferSize));

  for (int64_t j = 0; j < keys.size(); j += kTile) {
    const int64_t cols = std::min(kTile, keys.size() - j);
    const TileView column = p.view(begin, rows, keys.begin + j, cols);
    if (column.sees_nothing()) continue;
    const Branches needed = p.branches(column);
    if (needed.has_near) near.pack(p, j, cols);
    if (needed.has_far) far.pack(p, j, cols);
    pack_keys<Terms>(p.v + p.k_at(head, keys.begin + j), p.k_rows.row_step, cols, p.head_dim,
                     value_cols);
    for (int64_t i = 0; i < rows; i += kTile) {
      const TileView view = column.queries(i, kTile);
      if (view.sees_nothing()) continue;
      if (row_bias) row_bias.start_tile();
      for (int64_t r = 0; r < view.rows; r += kStrip) {
        const TileView strip = view.queries(r, kStrip);
        const int64_t at = r * kScoreStride;
        const int64_t depth = units_of<Terms>(p.head_dim);
        branch_scores<Terms>(p.branches(strip), near.from(i + r), far.from(i + r), depth,
                             tiles.prob + at, far_tile, kScoreStride);
        tile_scores<Terms>(strip, dout.of_scores.row(i + r), dout.of_scores.stride, value_cols,
                           depth, tiles.grad + at, kScoreStride);
        std::optional<DroppedPairs<kTile>> dropped;
        if (p.mask.is_on()) {
          dropped.emplace(p.mask, strip, head, begin + i + r);
          dropped->apply(tiles.grad + at, kScoreStride);
        }
        gradient_strip<T>(p, strip, row_values.from(i + r), begin + i + r, terms, tiles.from(at),
                          row_bias);
        if (dropped) dropped->apply(tiles.prob + at, kScoreStride);
      }
      if (dbias) dbias.add(view, entries, tiles.dbias);
      if (dweight) dweight.add(view, entries, tiles.dweight);
      if (row_bias) row_bias.finish_tile(view, tiles.dfeature);
      add_tile_over_queries<Terms>(view, tiles.prob, dout.of_gradients.from(i / Terms::kElements),
                                   width, A{1}, dv + j * stride, stride, units);
      const Branches branches = p.branches(view);
      if (branches.is_mixed()) split_far(branches, tiles.grad, far_tile, kScoreStride);
      if (branches.has_near)
        near.add_gradients(branches.near, tiles.grad, p.scale, width, i, j, stride, units);
      if (branches.has_far)
        far.add_gradients(branches.far, branches.has_near ? far_tile : tiles.grad, p.scale, width,
                          i, j, stride, units);
    }
  }
}

}  // namespace farfield::attention_cpu
