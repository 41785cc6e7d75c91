#pragma once

#include <algorithm>
#include <cstdint>

namespace farfield::bench {

/// Queries and keys of a tile.
inline constexpr int64_t kTileRows = 64;

/// Calls f(first query, first key) for each tile that holds a visible pair: of one head of one
/// sequence of n tokens, causal, with a window (0: none) and sinks; keys ascend.
template <class F>
void for_each_tile(int64_t n, int64_t window, int64_t sinks, const F& f) {
  const auto tiles = [](int64_t keys) { return (keys + kTileRows - 1) / kTileRows; };
  for (int64_t query = 0; query < n; query += kTileRows) {
    const int64_t end = tiles(std::min(n, query + kTileRows));
    const int64_t first = window > 0 ? std::max<int64_t>(0, query - window + 1) / kTileRows : 0;
    for (int64_t t = 0; t < std::min(tiles(sinks), first); ++t) f(query, t * kTileRows);
    for (int64_t t = first; t < end; ++t) f(query, t * kTileRows);
  }
}

}  // namespace farfield::bench
