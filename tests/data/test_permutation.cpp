#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "data/permutation.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_permutation)  // ctest: arm64
namespace {

BOOST_AUTO_TEST_CASE(every_number_comes_exactly_once) {
  for (const int64_t n : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 1000, 4097, 100000}) {
    const Permutation order(n, 42, 7);
    std::vector<int> seen(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) ++seen.at(static_cast<size_t>(order[i]));
    BOOST_TEST(seen == std::vector<int>(static_cast<size_t>(n), 1));
  }
}

BOOST_AUTO_TEST_CASE(the_largest_sizes_stay_in_range) {
  for (const int64_t n : {(int64_t{1} << 40) + 1, int64_t{1} << 62}) {
    const Permutation order(n, 1, 2);
    for (int64_t i = 0; i < 100; ++i) {
      BOOST_TEST(order[i] >= 0);
      BOOST_TEST(order[n - 1 - i] < n);
    }
  }
  BOOST_CHECK_EXCEPTION(Permutation(0, 1, 2), ConfigError, says("[permutation]", "got 0"));
}

// All 24 orders of 4 numbers come about equally often over seeds: no order is out of reach.
BOOST_AUTO_TEST_CASE(all_orders_are_about_equally_likely) {
  std::array<int, 256> count{};
  constexpr int kSeeds = 24000;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Permutation order(4, static_cast<uint64_t>(seed), 0);
    size_t code = 0;
    for (int64_t i = 0; i < 4; ++i) code = code * 4 + static_cast<size_t>(order[i]);
    ++count[code];
  }
  int kinds = 0;
  for (const int c : count) {
    if (c == 0) continue;
    ++kinds;
    BOOST_TEST(std::abs(c - 1000) < 200);
  }
  BOOST_TEST(kinds == 24);
}

BOOST_AUTO_TEST_CASE(neighbours_are_not_neighbours_afterwards) {
  constexpr int64_t n = 10000;
  const Permutation order(n, 3, 9);
  int adjacent = 0;
  int64_t lower_half = 0;
  for (int64_t i = 0; i + 1 < n; ++i) {
    adjacent += order[i + 1] == order[i] + 1;
    lower_half += i < n / 2 && order[i] < n / 2;
  }
  BOOST_TEST(adjacent < 10);  // 1 is expected
  BOOST_TEST(std::abs(lower_half - n / 4) < 150);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
