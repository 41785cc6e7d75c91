#pragma once
// A tile of probabilities or gradients as the left-hand side of a product over keys or queries: in
// place, or in pairs rounded to bfloat16.

#include <cstdint>
#include <cstring>

#include "engine/cpu/attention_pack.h"

namespace farfield::attention_cpu {

/// Units of working memory for a tile of so many queries, whose rows are `stride` from each other.
template <class Terms>
constexpr int64_t tile_units_size(int64_t rows, int64_t stride) {
  return Terms::kElements == 1 ? 0 : units_of<Terms>(rows) * stride;
}

/// `tile` in units along the keys, for the keys that a block of rows sees.
template <class Terms>
Rows<typename Terms::Unit> units_over_keys(const TileView& view, const typename Terms::Sum* tile,
                                           int64_t stride,
                                           [[maybe_unused]] typename Terms::Unit* buffer) {
  if constexpr (Terms::kElements == 1) {
    return {tile, stride};
  } else {
    using Sum = typename Terms::Sum;
    for (int64_t block = 0; block < view.rows; block += kBlockRows) {
      const int64_t end = std::min<int64_t>(block + kBlockRows, view.rows);
      const Range keys = score_columns<Sum>(view, block, end - block);
      for (int64_t i = block; i < end; ++i)
        for (int64_t j = keys.begin; j < keys.end; j += kBlockCols<Sum>) {
          const Sum* const from = tile + i * stride + j;
          const auto units = Terms::in_row(load(from), load(from + kLanes<Sum>));
          std::memcpy(buffer + (i * stride + j) / 2, &units, sizeof units);
        }
    }
    return {buffer, stride / 2};
  }
}

/// `tile`, all of whose keys are given, in units along the queries: row u of the result has rows
/// 2 u and 2 u + 1.
template <class Terms>
Rows<typename Terms::Unit> units_over_queries(const TileView& view, const typename Terms::Sum* tile,
                                              int64_t stride,
                                              [[maybe_unused]] typename Terms::Unit* buffer) {
  if constexpr (Terms::kElements == 1) {
    return {tile, stride};
  } else {
    using Sum = typename Terms::Sum;
    for (int64_t i = 0; i < view.rows; i += 2)
      for (int64_t j = 0; j < view.cols; j += kLanes<Sum>) {
        const Sum* const from = tile + i * stride + j;
        const Vec<Sum> second = i + 1 < view.rows ? load(from + stride) : Vec<Sum>{};
        const auto units = Terms::in_lanes(load(from), second);
        std::memcpy(buffer + i / 2 * stride + j, &units, sizeof units);
      }
    return {buffer, stride};
  }
}

}  // namespace farfield::attention_cpu
