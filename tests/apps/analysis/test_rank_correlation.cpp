#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "apps/analysis/rank_correlation.h"
#include "engine/base/error.h"

using namespace farfield;
using namespace farfield::analysis;

BOOST_AUTO_TEST_SUITE(test_rank_correlation)

BOOST_AUTO_TEST_CASE(any_rising_curve_is_one_and_any_falling_one_is_minus_one) {
  const std::vector<double> x = {1, 2, 3, 4}, up = {0.1, 7, 7.5, INFINITY}, down = {3, 2, -1, -90};
  BOOST_TEST(rank_correlation(x, up) == 1, boost::test_tools::tolerance(1e-15));
  BOOST_TEST(rank_correlation(x, down) == -1, boost::test_tools::tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(without_ties_it_is_the_sum_of_squared_rank_differences) {
  // 1 - 6 sum d^2 / (n (n^2 - 1)), d = -1 -1 2 -1 1 over five pairs: 1 - 6 8 / 120.
  const std::vector<double> x = {10, 20, 30, 40, 50}, y = {2, 3, 1, 5, 4};
  BOOST_TEST(rank_correlation(x, y) == 0.6, boost::test_tools::tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(equal_values_share_the_mean_of_their_ranks) {
  // Ranks 1.5 1.5 3 against 1 2 3: covariance 1.5, variances 1.5 and 2.
  const std::vector<double> x = {5, 5, 6}, y = {1, 2, 3};
  BOOST_TEST(rank_correlation(x, y) == 1.5 / std::sqrt(3.0), boost::test_tools::tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(what_does_not_vary_has_none) {
  const std::vector<double> same = {1, 1, 1}, y = {1, 2, 3}, none;
  BOOST_TEST(std::isnan(rank_correlation(same, y)));
  BOOST_TEST(std::isnan(rank_correlation(none, none)));
}

BOOST_AUTO_TEST_CASE(bad_input_is_refused) {
  const std::vector<double> two = {1, 2}, three = {1, 2, 3}, bad = {1, std::nan("")};
  BOOST_CHECK_THROW(rank_correlation(two, three), ConfigError);
  BOOST_CHECK_THROW(rank_correlation(two, bad), ConfigError);
}

BOOST_AUTO_TEST_CASE(the_interval_shrinks_with_pairs_and_near_one) {
  BOOST_TEST(rank_correlation_uncertainty(0.9, 47) < rank_correlation_uncertainty(0.9, 12));
  BOOST_TEST(rank_correlation_uncertainty(0.9, 47) < rank_correlation_uncertainty(0.1, 47));
  BOOST_TEST(rank_correlation_uncertainty(0, 1003) == std::tanh(1.959964 * std::sqrt(0.00106)),
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(std::isnan(rank_correlation_uncertainty(0.5, 3)));
}

BOOST_AUTO_TEST_SUITE_END()
