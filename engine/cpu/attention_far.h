#pragma once
// Tiles where some pairs take other copies of q and k: the far ones.

#include <algorithm>
#include <cstdint>

#include "engine/cpu/attention_tile.h"

namespace farfield::attention_cpu {

/// Which pairs are far: those at `distance` or more (0: none) of queries at `position` or later.
struct FarPairs {
  int64_t distance = 0, position = 0;
};

/// A tile in two: of query i, keys [0, far_end(i)) are far, the others near. `near` and `far` hold
/// at least the pairs of each that see each other, so a product limited to them has all that is
/// needed.
class Branches {
 public:
  Branches(const TileView& view, const FarPairs& pairs) : near(view), far(view), pairs_(pairs) {
    // With open sinks, every key of the tile may be seen from any distance.
    const bool bounded = view.window > 0 && view.sinks <= 0;
    const int64_t last = view.rows - 1;
    has_far = pairs.distance > 0 && view.offset + last >= pairs.distance &&
              view.position + last >= pairs.position && (!bounded || view.window > pairs.distance);
    if (!has_far) return;
    far.offset -= pairs.distance;
    far.window = bounded ? view.window - pairs.distance : 0;
    if (view.position < pairs.position) return;  // some queries have near pairs alone
    has_near = view.offset - (view.cols - 1) < pairs.distance;
    near.window = pairs.distance;
    near.sinks = 0;
  }

  TileView near, far;
  bool has_near = true, has_far = false;

  bool is_mixed() const { return has_near && has_far; }
  /// Keys [0, far_end(i)) of query i are far, the others near.
  int64_t far_end(int64_t i) const {
    if (!has_far || near.position + i < pairs_.position) return 0;
    return std::clamp(near.offset + i - pairs_.distance + 1, int64_t{0}, near.cols);
  }

 private:
  FarPairs pairs_;
};

/// One branch's side of a tile of dot products: its rows, and its keys packed by pack_keys.
template <class Unit>
struct Factors {
  const Unit* rows = nullptr;
  int64_t stride = 0;
  const Unit* packed = nullptr;
};

/// tile_scores, each pair by its branch. `spare` is as large as c.
template <class Terms>
void branch_scores(const Branches& branches, const Factors<typename Terms::Unit>& near,
                   const Factors<typename Terms::Unit>& far, int64_t depth, typename Terms::Sum* c,
                   typename Terms::Sum* spare, int64_t ldc) {
  if (branches.has_near)
    tile_scores<Terms>(branches.near, near.rows, near.stride, near.packed, depth, c, ldc);
  if (!branches.has_far) return;
  auto* const to = branches.has_near ? spare : c;
  tile_scores<Terms>(branches.far, far.rows, far.stride, far.packed, depth, to, ldc);
  if (!branches.has_near) return;
  for (int64_t i = 0; i < branches.far.rows; ++i)
    std::copy_n(spare + i * ldc, branches.far_end(i), c + i * ldc);
}

/// Moves the far pairs of a tile x to `far`. x has zeros instead of far pairs, `far` instead of
/// near ones.
template <class A>
void split_far(const Branches& branches, A* x, A* far, int64_t stride) {
  for (int64_t i = 0; i < branches.far.rows; ++i, x += stride, far += stride) {
    const int64_t end = branches.far_end(i);
    std::copy_n(x, end, far);
    std::fill(far + end, far + branches.far.cols, A{0});
    std::fill_n(x, end, A{0});
  }
}

}  // namespace farfield::attention_cpu
