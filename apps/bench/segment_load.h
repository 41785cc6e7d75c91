#pragma once

#include <cstdint>

#include "engine/attention_rule.h"

namespace farfield::bench {

/// What kernels meet of the segments of a row bias, in parts of a tile that a warp takes at once,
/// and in their pieces of 8 keys or queries: pairs of one head of one sequence.
struct PartLoad {
  double one = 0;      ///< of parts that lie in one segment
  double several = 0;  ///< of the others
  double first = 0;    ///< of those, in pieces that have a knot within
  double further = 0;  ///< those once for each further knot of their piece
};

/// Of the forward pass and of the backward passes over keys and over queries; and how often a warp
/// of the latter puts sums of a segment away. As engine/cuda/attention_row_bias_scores.cuh and
/// attention_row_bias_sums.cuh do with heads of up to 64 components.
struct SegmentLoad {
  PartLoad forward, keys, queries;
  double flushes = 0;

  void add(const SegmentLoad& other, double times);
};

/// Of n tokens, causal, with a window (0: none) and sinks: of the tiles that tile_pairs() counts.
SegmentLoad segment_load(const RowBias& bias, int64_t n, int64_t window, int64_t sinks);

}  // namespace farfield::bench
