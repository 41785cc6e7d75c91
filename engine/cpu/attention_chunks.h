#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/cpu/attention_problem.h"

namespace farfield::attention_cpu {

/// How the backward pass is cut. Positions are cut into chunks; a unit of parallel work is a chunk
/// of keys and a chunk of queries of one head. In round r the chunk of keys c meets the chunk of
/// queries c + r: within a round no two units share a chunk, so each adds to its part of the
/// gradients alone, and the order of the additions is the order of the rounds.
struct Chunks {
  explicit Chunks(int64_t n_key)
      : size(kTile * std::clamp<int64_t>((n_key + 4 * kTile - 1) / (4 * kTile), 2, 4)),
        count((n_key + size - 1) / size) {}

  int64_t size, count;

  /// Distances of a round are at least this, and fewer than 2 * size of them.
  int64_t smallest_distance(int64_t round) const {
    return std::max<int64_t>(0, (round - 1) * size);
  }
  /// The queries of a chunk.
  template <class T>
  Range queries(const Problem<T>& p, int64_t c) const {
    const int64_t first = c * size - p.first_position();
    return {std::clamp(first, int64_t{0}, p.n_query),
            std::clamp(first + size, int64_t{0}, p.n_query)};
  }
  /// The keys of a chunk.
  template <class T>
  Range keys(const Problem<T>& p, int64_t c) const {
    return {c * size, std::min(p.n_key, (c + 1) * size)};
  }
  /// Do keys of chunk c meet queries of chunk c + round that see them?
  template <class T>
  bool has_work(const Problem<T>& p, int64_t c, int64_t round) const {
    const Range q = queries(p, c + round), k = keys(p, c);
    return !p.view(q.begin, q.size(), k.begin, k.size()).sees_nothing();
  }
};

}  // namespace farfield::attention_cpu
