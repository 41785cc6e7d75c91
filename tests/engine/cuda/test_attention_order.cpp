// The order in which blocks take the tiles of heads.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/cuda/attention_order.h"

namespace farfield::test {
BOOST_AUTO_TEST_SUITE(test_attention_order)
namespace {

using attention_cuda::SlotOrder;
using attention_cuda::TileOf;
using attention_cuda::TileOrder;
using Order = std::vector<std::pair<int, int>>;  // tile, index

Order order_of(const TileOrder& tiles) {
  Order order;
  for (int i = 0; i < tiles.size(); ++i) order.emplace_back(tiles.at(i).tile, tiles.at(i).index);
  return order;
}

Order items_of(const SlotOrder& order, int slot) {
  Order items;
  for (int round = 0; round < order.n_round(); ++round) {
    const TileOf item = order.at(slot, round);
    if (item.tile >= 0) items.emplace_back(item.tile, item.index);
  }
  return items;
}

// That of the slot with the most, as a share of the mean: a tile has one step more than the next.
double greatest_work(const SlotOrder& order) {
  std::vector<double> work;
  for (int slot = 0; slot < order.n_slot(); ++slot) {
    double sum = 0;
    for (const auto& [tile, index] : items_of(order, slot)) sum += order.n_tiles() - tile;
    work.push_back(sum);
  }
  const double mean = std::accumulate(work.begin(), work.end(), 0.0) / order.n_slot();
  return *std::max_element(work.begin(), work.end()) / mean;
}

}  // namespace

BOOST_AUTO_TEST_CASE(some_are_taken_together_and_their_first_tiles_come_first) {
  const Order want = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {0, 2}, {0, 3},
                      {1, 2}, {1, 3}, {2, 2}, {2, 3}, {0, 4}, {1, 4}, {2, 4}};
  BOOST_TEST((order_of({3, 5, 2}) == want));
  const Order together = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}};
  BOOST_TEST((order_of({2, 3, 3}) == together));
  const Order apart = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}};
  BOOST_TEST((order_of({2, 3, 1}) == apart));
}

BOOST_AUTO_TEST_CASE(slots_walk_back_and_forth) {
  const SlotOrder order(2, {3, 2, 2});
  BOOST_TEST((items_of(order, 0) == Order{{0, 0}, {1, 1}, {2, 0}}));
  BOOST_TEST((items_of(order, 1) == Order{{0, 1}, {1, 0}, {2, 1}}));
}

BOOST_AUTO_TEST_CASE(each_tile_is_taken_once) {
  for (const int n_tiles : {1, 2, 7})
    for (const int n : {1, 2, 5, 12})
      for (int n_together = 1; n_together <= n; ++n_together)
        for (const int n_slot : {1, 3, 8, n_tiles * n}) {
          const SlotOrder order(n_slot, {n_tiles, n, n_together});
          std::vector<int> taken(static_cast<size_t>(n_tiles * n));
          for (int slot = 0; slot < std::min(n_slot, n_tiles * n); ++slot)
            for (const auto& [tile, index] : items_of(order, slot))
              ++taken.at(static_cast<size_t>(index * n_tiles + tile));
          BOOST_TEST((taken == std::vector<int>(taken.size(), 1)),
                     n_tiles << " tiles of " << n << ", " << n_together << " together, " << n_slot
                             << " slots");
        }
}

// Of 32 sequences of 512 tokens, 64 of 2048, 2 or 3 of 8192, and 4 of 4096, with 12 heads.
BOOST_AUTO_TEST_CASE(slots_have_as_much_to_do) {
  const TileOrder all[] = {{8, 32, 10}, {32, 64, 2}, {128, 2, 1}, {128, 3, 1}, {64, 4, 1}};
  for (const TileOrder& tiles : all)
    BOOST_TEST(
        greatest_work(SlotOrder(22, tiles)) < 1.05,
        tiles.n_tiles << " tiles of " << tiles.n << ": " << greatest_work(SlotOrder(22, tiles)));
}

BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test
