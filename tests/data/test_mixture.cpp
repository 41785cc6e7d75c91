#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "data/mixture.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_mixture)
namespace {

BOOST_AUTO_TEST_CASE(each_source_has_its_share_of_each_round_and_its_rows_in_order_without_gaps) {
  const Mixture mixture({2, 1, 0.5}, 7);
  BOOST_TEST(mixture.rows_of(0) == 2341);  // of 4096: 2340.6, 1170.3, 585.1
  BOOST_TEST(mixture.rows_of(1) == 1170);
  BOOST_TEST(mixture.rows_of(2) == 585);
  std::map<size_t, std::map<int64_t, int>> taken;
  for (int64_t row = 0; row < 3 * Mixture::kRound; ++row) {
    const Mixture::Row r = mixture[row];
    ++taken[r.source][r.index];
    BOOST_TEST(r.index / mixture.rows_of(r.source) == row / Mixture::kRound);
  }
  for (size_t source = 0; source < 3; ++source) {
    BOOST_TEST(static_cast<int64_t>(taken[source].size()) == 3 * mixture.rows_of(source));
    BOOST_TEST(taken[source].rbegin()->first == 3 * mixture.rows_of(source) - 1);
  }
}

BOOST_AUTO_TEST_CASE(the_seed_decides_the_order_within_a_round) {
  const Mixture a({1, 1}, 1), b({1, 1}, 2), again({10, 10}, 1);
  int same = 0;
  for (int64_t row = 0; row < 1000; ++row) {
    same += a[row].source == b[row].source;
    BOOST_TEST(a[row].source == again[row].source);
    BOOST_TEST(a[row].index == again[row].index);
  }
  BOOST_TEST(same > 400);
  BOOST_TEST(same < 600);
  int other_round = 0;
  for (int64_t row = 0; row < 1000; ++row)
    other_round += a[row].source == a[row + Mixture::kRound].source;
  BOOST_TEST(other_round < 600);
}

BOOST_AUTO_TEST_CASE(one_source_takes_every_row) {
  const Mixture mixture({0.25}, 3);
  for (const int64_t row : {int64_t{0}, int64_t{5000}, int64_t{1} << 40}) {
    BOOST_TEST(mixture[row].source == 0u);
    BOOST_TEST(mixture[row].index == row);
  }
}

BOOST_AUTO_TEST_CASE(the_smallest_weight_has_a_row_in_each_round) {
  const Mixture mixture({1e6, 1, 1}, 3);
  BOOST_TEST(mixture.rows_of(0) == Mixture::kRound - 2);
  BOOST_TEST(mixture.rows_of(2) == 1);
}

BOOST_AUTO_TEST_CASE(weights_that_are_none_are_refused) {
  for (const double weight : {0., -1., std::nan(""), HUGE_VAL})
    BOOST_CHECK_EXCEPTION(Mixture({1, weight}, 0), ConfigError,
                          says("[mixture] expected finite weights above 0, got "));
  BOOST_CHECK_THROW(Mixture({}, 0), ConfigError);
  BOOST_CHECK_THROW(Mixture(std::vector<double>(4097, 1), 0), ConfigError);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
