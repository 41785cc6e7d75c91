#pragma once
// Which pairs of a few queries and a tile's keys stay under dropout.

#include "engine/cpu/attention_tile.h"
#include "engine/kernels/attention_dropout.h"

namespace farfield::attention_cpu {

/// Made once, used on P and on its gradient. At most kStrip queries and kCols keys.
template <int64_t kCols>
class DroppedPairs {
 public:
  /// Of the queries and keys of a view, `first_query` its first.
  DroppedPairs(const AttentionMask& mask, const TileView& view, int64_t head, int64_t first_query)
      : view_(view), first_key_(view.position - view.offset), scale_(mask.scale()) {
    for (int64_t i = 0; i < view.rows; ++i) {
      const Range keys = view.keys_of(i, 1);
      if (keys.empty()) continue;
      for (int64_t g = group_of(keys.begin); g <= group_of(keys.end - 1); ++g) {
        const PhiloxBlock bits = mask.bits(head, first_query + i, first_group() + g);
        uint8_t kept = 0;
        for (int j = 0; j < kGroup; ++j) kept |= static_cast<uint8_t>(mask.keeps(bits, j) << j);
        kept_[i][g] = kept;
      }
    }
  }

  /// rows[i * stride + j] for the pairs that see each other: 0, or times what stays is multiplied
  /// by.
  template <class A>
  void apply(A* rows, int64_t stride) const {
    for (int64_t i = 0; i < view_.rows; ++i) {
      const Range keys = view_.keys_of(i, 1);
      A* const row = rows + i * stride;
      for (int64_t j = keys.begin; j < keys.end; ++j) {
        const bool stays = kept_[i][group_of(j)] >> ((first_key_ + j) % kGroup) & 1;
        row[j] = stays ? row[j] * static_cast<A>(scale_) : A{0};
      }
    }
  }

 private:
  static constexpr int64_t kGroup = DropoutMask::kGroup;

  int64_t first_group() const { return first_key_ / kGroup; }
  int64_t group_of(int64_t j) const { return (first_key_ + j) / kGroup - first_group(); }

  TileView view_;
  int64_t first_key_;
  double scale_;
  uint8_t kept_[kStrip][kCols / kGroup + 1];
};

}  // namespace farfield::attention_cpu
