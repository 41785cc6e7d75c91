#pragma once

#include <limits>

#include "engine/cpu/attention_tile.h"

namespace farfield::attention_cpu {

/// Turns a tile of dot products into scores: the slices of one head's tables that the tile needs,
/// reversed so that a row reads them forwards, with the mask folded into the bias as -inf.
template <class A>
class TileTerms {
 public:
  /// Elements of working memory that the constructor wants, for tiles of at most kTile queries and
  /// 2 * kTile keys.
  static constexpr int64_t kSliceSize = 3 * kTile + 64;
  static constexpr int64_t kBufferSize = 2 * kSliceSize + 2 * kTile;

  TileTerms(const A* bias_table, const A* weight_table, A* buffer)
      : bias_table_(bias_table),
        weight_table_(weight_table),
        bias_(buffer),
        weight_(buffer + kSliceSize),
        row_(buffer + 2 * kSliceSize) {}

  void start_tile(const TileView& view) {
    view_ = view;
    const int64_t padded = round_up(view.cols, kBlockCols<A>);
    const bool masked = !view.sees_all(padded);
    has_bias_ = masked || bias_table_ != nullptr;
    const int64_t top = view.offset + view.rows - 1;  // the largest distance comes first
    const int64_t size = view.rows + padded;
    if (has_bias_)
      for (int64_t x = 0; x < size; ++x) {
        const int64_t d = top - x;
        const bool visible = d >= 0 && (view.window == 0 || d < view.window);
        bias_[x] = !visible      ? -std::numeric_limits<A>::infinity()
                   : bias_table_ ? bias_table_[d]
                                 : A{0};
      }
    if (weight_table_)
      for (int64_t x = 0; x < size; ++x) weight_[x] = top - x >= 0 ? weight_table_[top - x] : A{1};
  }

  bool has_bias() const { return has_bias_; }
  bool has_weight() const { return weight_table_ != nullptr; }

  /// What is added to query i and keys j = 0, 1, ...; valid until the next call.
  const A* bias_row(int64_t i) {
    const A* const slice = bias_ + (view_.rows - 1 - i);
    if (!view_.has_open_sinks()) return slice;
    std::copy(slice, slice + round_up(view_.cols, kBlockCols<A>), row_);
    for (int64_t j = 0; j < std::min(view_.sinks, view_.cols); ++j) {
      const int64_t d = view_.offset + i - j;
      if (d >= 0) row_[j] = bias_table_ ? bias_table_[d] : A{0};
    }
    return row_;
  }
  const A* weight_row(int64_t i) const { return weight_ + (view_.rows - 1 - i); }

 private:
  const A* bias_table_;
  const A* weight_table_;
  A* bias_;
  A* weight_;
  A* row_;
  TileView view_;
  bool has_bias_ = false;
};

}  // namespace farfield::attention_cpu
