#pragma once

#include "engine/cpu/attention_tile.h"

namespace farfield::attention_cpu {

/// Rows of a tile have a margin of zeros on both sides, so that a diagonal can be read as if the
/// tile went on: one before the first row, and one after each.
inline constexpr int64_t kMargin = 16;
inline constexpr int64_t kScoreStride = kTile + kMargin;
inline constexpr int64_t kTileSize = kMargin + kTile * kScoreStride;

/// The tiles of one unit.
template <class A>
struct Tiles {
  A* prob;      ///< probabilities
  A* grad;      ///< dP, then the gradient of the unscaled dot products divided by the common scale
  A* dbias;     ///< dS; the same tile as grad unless row scales or weights set them apart
  A* dweight;   ///< dS times the scaled dot product, when wanted
  A* dfeature;  ///< dS times the factor of a row bias's feature, when wanted
  bool keeps_diagonals;  ///< rows are zero up to kScoreStride, for add_diagonals

  Tiles from(int64_t at) const {
    return {prob + at,
            grad + at,
            dbias + at,
            dweight ? dweight + at : nullptr,
            dfeature ? dfeature + at : nullptr,
            keeps_diagonals};
  }
};

}  // namespace farfield::attention_cpu
