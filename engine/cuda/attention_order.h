#pragma once

#include "engine/host_device.h"

namespace farfield::attention_cuda {

/// A tile of one of several heads, or sequences.
struct TileOf {
  int tile, index;
};

/// The order of the tiles of `n` heads, or sequences, with n_tiles each. n_together heads are
/// finished before the next ones begin, so that data shared by their tiles is still in the cache;
/// among these, all first tiles come before all second tiles.
struct TileOrder {
  int n_tiles, n, n_together;

  FARFIELD_HD int size() const { return n_tiles * n; }
  FARFIELD_HD TileOf at(int i) const {
    const int first = i / (n_tiles * n_together) * n_together;
    return within(first, i - first * n_tiles);
  }
  /// Item i of those from the head or sequence `first` on, up to n_together; none: tile -1.
  FARFIELD_HD TileOf within(int first, int i) const {
    const int n_here = n - first < n_together ? n - first : n_together;
    const int tile = i / n_here;
    return {tile < n_tiles ? tile : -1, first + i % n_here};
  }
};

/// How n_slot blocks share the tiles, round by round. Of the tiles that come together, slot s takes
/// items s, 2 n_slot - 1 - s, 2 n_slot + s, ...: later tiles have less work, so this balances the
/// slots. The next group of tiles is dealt anew, beginning with the slot that ended this group, in
/// the opposite direction. With a slot for each tile, slot i takes item i.
class SlotOrder {
 public:
  SlotOrder() = default;
  SlotOrder(int n_slot, TileOrder tiles) : n_slot_(n_slot), tiles_(tiles) {
    if (n_slot >= tiles.size()) return;
    const auto parts = [](int x, int of) { return (x + of - 1) / of; };
    const int n_part = parts(tiles.n, tiles.n_together);
    tiles_.n_together = parts(tiles.n, n_part);  // as many in each
    n_round_of_part_ = parts(tiles.n_tiles * tiles_.n_together, n_slot);
    n_round_ = n_part * n_round_of_part_;
  }

  FARFIELD_HD int n_slot() const { return n_slot_; }
  FARFIELD_HD int n_tiles() const { return tiles_.n_tiles; }
  FARFIELD_HD int n_round() const { return n_round_; }
  /// The item of a slot in a round; tile -1 if none.
  FARFIELD_HD TileOf at(int slot, int round) const {
    if (n_round_ == 1) return tiles_.at(slot);
    const int part = round / n_round_of_part_, first = part * tiles_.n_together;
    if (first >= tiles_.n) return {-1, 0};
    const int turn = (turned(slot, part) + first * tiles_.n_tiles) % n_slot_;
    const int in_part = round - part * n_round_of_part_;
    return tiles_.within(first, in_part * n_slot_ + turned(turn, in_part));
  }

 private:
  FARFIELD_HD int turned(int slot, int by) const { return by % 2 == 0 ? slot : n_slot_ - 1 - slot; }

  int n_slot_ = 0, n_round_ = 1, n_round_of_part_ = 1;
  TileOrder tiles_ = {};
};

}  // namespace farfield::attention_cuda
