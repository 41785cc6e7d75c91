#pragma once

#include <limits>

#include "engine/cpu/attention_entries.h"
#include "engine/cpu/attention_row_bias.h"
#include "engine/cpu/attention_tile.h"

namespace farfield::attention_cpu {

/// The terms that one head adds to its dot products.
template <class A>
struct HeadTerms {
  const A* bias = nullptr;
  const A* weight = nullptr;
  Entries entries = {};
  HeadRowBias<A> row_bias = {};
};

/// Turns a tile of dot products into scores: the slices of one head's tables that the tile needs,
/// reversed so that a row reads them forwards, with the mask folded into the bias as -inf. Where
/// pairs read their entries by ids, each row is gathered.
template <class A>
class TileTerms {
 public:
  /// Elements of working memory that the constructor wants, for tiles of at most kTile queries and
  /// 2 * kTile keys.
  static constexpr int64_t kSliceSize = 3 * kTile + 64;
  static constexpr int64_t kRowSize = 2 * kTile + 64;
  static constexpr int64_t kBufferSize = 3 * kSliceSize + 3 * kRowSize;

  TileTerms(const HeadTerms<A>& head, A* buffer)
      : head_(head),
        bias_(buffer),
        weight_(buffer + kSliceSize),
        feature_(buffer + 2 * kSliceSize),
        bias_row_(buffer + 3 * kSliceSize),
        weight_row_(bias_row_ + kRowSize),
        sum_row_(weight_row_ + kRowSize) {}

  void start_tile(const TileView& view) {
    view_ = view;
    padded_ = round_up(view.cols, kBlockCols<A>);
    const bool masked = !view.sees_all(padded_);
    has_bias_ = masked || head_.bias != nullptr;
    by_id_ = (head_.bias || head_.weight) && head_.entries.by_id(view);
    const int64_t top = view.offset + view.rows - 1;  // the largest distance comes first
    const int64_t size = view.rows + padded_;
    const int64_t end = std::clamp(top + 1, int64_t{0}, size);
    const int64_t seen = view.window == 0 ? 0 : std::clamp(top - view.window + 1, int64_t{0}, end);
    if (has_bias_ && !(by_id_ && head_.bias))
      fill_slice(head_.bias, A{0}, top, {seen, end}, -std::numeric_limits<A>::infinity(), size,
                 bias_);
    if (head_.weight && !by_id_) fill_slice(head_.weight, A{1}, top, {0, end}, A{1}, size, weight_);
    if (head_.row_bias.feature)
      fill_slice(head_.row_bias.feature, A{0}, top, {0, end}, A{0}, size, feature_);
  }

  bool has_bias() const { return has_bias_ || head_.row_bias.feature; }
  bool has_weight() const { return head_.weight != nullptr; }

  /// The bias of query i and keys j = 0, 1, ...; valid until the next call.
  const A* bias_row(int64_t i) {
    const A* const table = has_bias_ ? table_row(i) : nullptr;
    if (!head_.row_bias.feature) return table;
    head_.row_bias.add(view_.position + i - head_.entries.first_position, view_.offset + i, padded_,
                       feature_row(i), table, sum_row_);
    return sum_row_;
  }
  /// The factors of the dot products.
  const A* weight_row(int64_t i) {
    if (by_id_) return gathered(head_.weight, i, 1, weight_row_);
    return weight_ + (view_.rows - 1 - i);
  }
  /// The features of its pairs with these keys.
  const A* feature_row(int64_t i) const { return feature_ + (view_.rows - 1 - i); }

 private:
  // to[x], 0 <= x < size: table[top - x] for x in `known`, where `without` stands for no table, and
  // `other` elsewhere.
  static void fill_slice(const A* table, A without, int64_t top, Range known, A other, int64_t size,
                         A* __restrict to) {
    std::fill(to, to + known.begin, other);
    if (table)
      for (int64_t x = known.begin; x < known.end; ++x) to[x] = table[top - x];
    else
      std::fill(to + known.begin, to + known.end, without);
    std::fill(to + known.end, to + size, other);
  }
  // The bias table's part, and the mask.
  const A* table_row(int64_t i) {
    if (by_id_ && head_.bias)
      return gathered(head_.bias, i, -std::numeric_limits<A>::infinity(), bias_row_);
    const A* const slice = bias_ + (view_.rows - 1 - i);
    if (!view_.has_open_sinks()) return slice;
    std::copy(slice, slice + padded_, bias_row_);
    for (int64_t j = 0; j < std::min(view_.sinks, view_.cols); ++j) {
      const int64_t d = view_.offset + i - j;
      if (d >= 0) bias_row_[j] = head_.bias ? head_.bias[d] : A{0};
    }
    return bias_row_;
  }
  const A* gathered(const A* table, int64_t i, A hidden, A* row) const {
    std::fill_n(row, padded_, hidden);
    const Branches branches = head_.entries.branches(view_);
    for_each_run(head_.entries, view_, branches, i, [&](const EntryRun& run) {
      if (run.k)
        for (int64_t j = run.begin; j < run.end; ++j) row[j] = table[run.q - run.k[j]];
      else
        for (int64_t j = run.begin; j < run.end; ++j) row[j] = table[run.q - j];
    });
    return row;
  }

  HeadTerms<A> head_;
  A* bias_;
  A* weight_;
  A* feature_;
  A* bias_row_;
  A* weight_row_;
  A* sum_row_;
  TileView view_;
  int64_t padded_ = 0;
  bool has_bias_ = false, by_id_ = false;
};

}  // namespace farfield::attention_cpu
