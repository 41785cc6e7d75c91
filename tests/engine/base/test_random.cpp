#include <array>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/base/random.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_random)  // ctest: arm64
namespace {

// kat_vectors of the Random123 library, philox4x32 with 10 rounds: counter, key, result.
BOOST_AUTO_TEST_CASE(philox_gives_the_known_answers) {
  struct Case {
    std::array<uint32_t, 4> counter;
    std::array<uint32_t, 2> key;
    std::array<uint32_t, 4> want;
  };
  const uint32_t ones = 0xffffffff;
  const Case cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{ones, ones, ones, ones}, {ones, ones}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  const auto join = [](uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; };
  for (const Case& c : cases) {
    const PhiloxBlock got = philox(join(c.key[0], c.key[1]), join(c.counter[2], c.counter[3]),
                                   join(c.counter[0], c.counter[1]));
    for (int i = 0; i < 4; ++i) BOOST_TEST(got[i] == c.want[static_cast<size_t>(i)]);
  }
}

BOOST_AUTO_TEST_CASE(uniform_numbers_have_the_right_mean_variance_and_range) {
  const Random random{1234, stream_of("test")};
  constexpr int n = 100000;
  double sum = 0, squares = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const double x = random.uniform(i);
    BOOST_REQUIRE(x >= 0);
    BOOST_REQUIRE(x < 1);
    sum += x;
    squares += x * x;
  }
  const double mean = sum / n;
  BOOST_TEST(std::abs(mean - 0.5) < 5 * std::sqrt(1. / 12 / n));
  BOOST_TEST(std::abs(squares / n - mean * mean - 1. / 12) < 0.001);
}

BOOST_AUTO_TEST_CASE(normal_numbers_have_the_right_first_four_moments) {
  const Random random{1234, stream_of("test")};
  constexpr int n = 200000;
  double sum[5] = {};
  for (uint64_t i = 0; i < n; ++i) {
    const double x = random.normal(i);
    for (int k = 1; k <= 4; ++k) sum[k] += std::pow(x, k);
  }
  BOOST_TEST(std::abs(sum[1] / n) < 5 / std::sqrt(n));
  BOOST_TEST(std::abs(sum[2] / n - 1) < 5 * std::sqrt(2. / n));
  BOOST_TEST(std::abs(sum[3] / n) < 5 * std::sqrt(15. / n));
  BOOST_TEST(std::abs(sum[4] / n - 3) < 5 * std::sqrt(96. / n));
}

BOOST_AUTO_TEST_CASE(below_is_even_over_small_ranges) {
  const Random random{7, 3};
  constexpr uint64_t kinds = 6, n = 60000;
  std::array<int, kinds> count{};
  for (uint64_t i = 0; i < n; ++i) ++count[random.below(i, kinds)];
  for (const int c : count) BOOST_TEST(std::abs(c - 10000) < 5 * std::sqrt(10000. * 5 / 6));
}

// For n just above 2^63 nearly half of all draws must be rejected: without rejection the lower half
// of the range would come up too often, with a wrong retry the same number would come forever.
BOOST_AUTO_TEST_CASE(below_is_even_where_half_of_the_draws_are_rejected) {
  const Random random{7, 3};
  const uint64_t n = (uint64_t{1} << 63) + 1;
  int lower = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    const uint64_t x = random.below(i, n);
    BOOST_REQUIRE(x < n);
    lower += x < n / 2;
  }
  BOOST_TEST(std::abs(lower - 10000) < 5 * std::sqrt(5000.));
  BOOST_TEST(random.below(5, 1) == 0u);
}

BOOST_AUTO_TEST_CASE(a_number_depends_on_seed_stream_and_index_alone) {
  const Random random{1, 2};
  const double x = random.normal(40);
  for (uint64_t i = 0; i < 10; ++i) random.normal(i);
  BOOST_TEST(random.normal(40) == x);
  BOOST_TEST((Random{1, 3}.normal(40)) != x);
  BOOST_TEST((Random{2, 2}.normal(40)) != x);
  BOOST_TEST(random.normal(41) != x);
  BOOST_TEST(stream_of("init") != stream_of("data"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
