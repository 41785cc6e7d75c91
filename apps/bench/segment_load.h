#pragma once

#include <cstdint>

#include "engine/attention_rule.h"

namespace farfield::bench {

/// How kernels meet the segments of a row bias: numbers of pairs, of one head of one sequence. A
/// warp takes a part of a tile at once; a part has pieces of 8 keys or queries.
struct PartLoad {
  double one = 0;      ///< pairs in parts that lie in one segment
  double several = 0;  ///< pairs in parts with several segments
  double first = 0;    ///< among `several`, pairs in pieces with a knot inside
  double further = 0;  ///< the same pairs, once for each further knot of their piece
};

/// The loads of the forward pass and of the backward passes over keys and over queries, and how
/// often a warp of the pass over queries stores sums of a segment. As
/// engine/cuda/attention_row_bias_scores.cuh and attention_row_bias_sums.cuh do with heads of up to
/// 64 components.
struct SegmentLoad {
  PartLoad forward, keys, queries;
  double flushes = 0;

  void add(const SegmentLoad& other, double times);
};

/// The load of n tokens, causal, with a window (0: none) and sinks, over the tiles that
/// tile_pairs() counts.
SegmentLoad segment_load(const RowBias& bias, int64_t n, int64_t window, int64_t sinks);

}  // namespace farfield::bench
