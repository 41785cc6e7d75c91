#pragma once
// The rows of a tile in the backward pass: from dot products to probabilities and gradients.

#include "engine/cpu/attention_gradient_tile.h"
#include "engine/cpu/attention_normalizer.h"
#include "engine/cpu/attention_row_bias_sums.h"

namespace farfield::attention_cpu {

// One row: from dot products c and dP to P and the gradients. Out of line, so that only the
// constants of its own loop need registers, not the constants of all variants.
template <class A, bool kBias, bool kWeight, bool kSplit, class Row>
[[gnu::noinline]] void gradient_row(const Tiles<A>& tiles, int64_t at, Range keys, A factor,
                                    A row_factor, const Row& row, const A* bias, const A* weight) {
  const Vec<A> f = splat(factor), rf = splat(row_factor);
  for (int64_t j = keys.begin; j < keys.end; j += kLanes<A>) {
    A* const prob = tiles.prob + at + j;
    A* const grad = tiles.grad + at + j;
    const Vec<A> content = load(prob) * f;
    Vec<A> s = content;
    Vec<A> w{};
    if constexpr (kWeight) {
      w = load(weight + j);
      s = s * w;
    }
    if constexpr (kBias) s = s + load(bias + j);
    const Vec<A> probability = row.probability(s);
    Vec<A> ds = row.gradient(s, probability, load(grad));
    store<A>(prob, probability);
    if constexpr (kSplit) {
      if (tiles.dbias != tiles.grad) store<A>(tiles.dbias + at + j, ds);
      if constexpr (kWeight)
        if (tiles.dweight) store<A>(tiles.dweight + at + j, ds * content);
      ds = ds * rf;
      if constexpr (kWeight) ds = ds * w;
    }
    store<A>(grad, ds);
  }
}

// row[0 .. size) = 0 outside the keys; all three are whole vectors.
template <class A>
void clear_outside(A* row, Range keys, int64_t size) {
  for (int64_t j = 0; j < keys.begin; j += kLanes<A>) store<A>(row + j, Vec<A>{});
  for (int64_t j = keys.end; j < size; j += kLanes<A>) store<A>(row + j, Vec<A>{});
}

/// All rows of `view`, whose first is query first_query; the dot products are in tiles.prob, dP in
/// tiles.grad. The gradients of the row bias go to its part.
template <class T, class A = Accumulate<T>>
void gradient_strip(const Problem<T>& p, const TileView& view, const RowValues<A>& rows,
                    int64_t first_query, TileTerms<A>& terms, const Tiles<A>& tiles,
                    const RowBiasPart<A>& row_bias) {
  terms.start_tile(view);
  const int64_t padded = round_up(view.cols, kBlockCols<A>);
  const bool split = p.row_scale || p.weight;
  const int64_t cleared = tiles.keeps_diagonals ? kTile + kMargin : padded;
  for (int64_t block = 0; block < view.rows; block += kBlockRows) {
    const int64_t n = std::min<int64_t>(kBlockRows, view.rows - block);
    const Range keys = score_columns<A>(view, block, n);
    for (int64_t i = block; i < block + n; ++i) {
      const int64_t at = i * kScoreStride;
      const A factor = p.factor(first_query + i);
      const A row_factor = p.row_scale ? p.row_scale[first_query + i] : A{1};
      const A* const bias = terms.has_bias() ? terms.bias_row(i) : nullptr;
      const A* const weight = terms.has_weight() ? terms.weight_row(i) : nullptr;
      const auto run = [&](auto has_bias, auto has_weight, auto is_split) {
        with_normalizer(p, rows, i, first_query + i, [&](const auto& row) {
          gradient_row<A, has_bias(), has_weight(), is_split()>(tiles, at, keys, factor, row_factor,
                                                                row, bias, weight);
        });
      };
      constexpr std::true_type yes;
      constexpr std::false_type no;
      if (weight)
        bias ? run(yes, yes, yes) : run(no, yes, yes);
      else if (split)
        bias ? run(yes, no, yes) : run(no, no, yes);
      else
        bias ? run(yes, no, no) : run(no, no, no);
      if (row_bias)
        row_bias.add_row(first_query + i, view.offset + i, keys, tiles.dbias + at,
                         terms.feature_row(i), tiles.dfeature ? tiles.dfeature + at : nullptr);
      clear_outside(tiles.prob + at, keys, padded);
      clear_outside(tiles.grad + at, keys, cleared);
      if (tiles.dbias != tiles.grad) clear_outside(tiles.dbias + at, keys, cleared);
      if (tiles.dweight) clear_outside(tiles.dweight + at, keys, cleared);
      if (tiles.dfeature) clear_outside(tiles.dfeature + at, keys, cleared);
    }
  }
}

}  // namespace farfield::attention_cpu
