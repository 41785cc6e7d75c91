#pragma once
// A tile of probabilities or gradients as the left-hand side of a product over keys or queries: in
// place, or in pairs rounded to bfloat16.

#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/cpu/attention_pack.h"

namespace farfield::attention_cpu {

/// Units of working memory for a tile of so many queries, whose rows are `stride` from each other.
template <class Terms>
constexpr int64_t tile_units_size(int64_t rows, int64_t stride) {
  return Terms::kElements == 1 ? 0 : units_of<Terms>(rows) * stride;
}

#if defined(__AVX512BF16__)
namespace pairs {

typedef uint16_t Words __attribute__((vector_size(64)));

/// Rounded to the nearest, `low` in the lower half.
inline Words rounded(Vec<float> low, Vec<float> high) {
  return reinterpret_cast<Words>(
      _mm512_cvtne2ps_pbh(reinterpret_cast<__m512>(high), reinterpret_cast<__m512>(low)));
}

/// Element l of each half side by side.
template <int... l>
Words interleaved(Words x, std::integer_sequence<int, l...>) {
  return __builtin_shufflevector(x, x, (l / 2 + l % 2 * static_cast<int>(sizeof...(l)) / 2)...);
}

}  // namespace pairs
#endif

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
          const auto both = pairs::rounded(load(from), load(from + kLanes<Sum>));
          std::memcpy(buffer + (i * stride + j) / 2, &both, sizeof both);
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
    constexpr std::make_integer_sequence<int, 2 * kLanes<Sum>> words;
    for (int64_t i = 0; i < view.rows; i += 2)
      for (int64_t j = 0; j < view.cols; j += kLanes<Sum>) {
        const Sum* const from = tile + i * stride + j;
        const Vec<Sum> second = i + 1 < view.rows ? load(from + stride) : Vec<Sum>{};
        const auto both = pairs::interleaved(pairs::rounded(load(from), second), words);
        std::memcpy(buffer + i / 2 * stride + j, &both, sizeof both);
      }
    return {buffer, stride};
  }
}

}  // namespace farfield::attention_cpu
