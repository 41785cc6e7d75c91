#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/analysis/spread.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_spread)
namespace {

using boost::test_tools::tolerance;

BOOST_AUTO_TEST_CASE(five_seeds_by_hand) {
  const Spread got = spread_of_seeds(std::vector<double>{1, 2, 3, 4, 5});
  BOOST_TEST(got.mean == 3);
  BOOST_TEST(got.deviation == std::sqrt(2.5), tolerance(1e-15));
  BOOST_TEST(got.n == 5);
  BOOST_TEST(got.n_nonfinite == 0);
  BOOST_TEST(got.ddof == 1);
}

BOOST_AUTO_TEST_CASE(a_large_mean_does_not_cancel_the_spread) {
  // E[x^2] - E[x]^2 gives 0 or less here: 1e18 has no room for the squares of 1.
  const std::vector<double> values{1e9 + 1, 1e9 + 2, 1e9 + 3};
  BOOST_TEST(deviation_of(values) == 1, tolerance(1e-12));
  BOOST_TEST(standard_error_of(values) == 1 / std::sqrt(3.0), tolerance(1e-12));
  BOOST_TEST(share_error(0.2, 16) == 0.1, tolerance(1e-12));
  BOOST_TEST(share_error(1, 16) == 0);
}

BOOST_AUTO_TEST_CASE(one_seed_has_a_mean_and_no_spread) {
  const Spread got = spread_of_seeds(std::vector<double>{7.5});
  BOOST_TEST(got.mean == 7.5);
  BOOST_TEST(std::isnan(got.deviation));
  BOOST_TEST(std::isnan(standard_error_of(std::vector<double>{7.5})));
}

BOOST_AUTO_TEST_CASE(a_diverged_seed_is_kept_and_counted) {
  for (const double bad : {INFINITY, -INFINITY, NAN}) {
    const Spread got = spread_of_seeds(std::vector<double>{20, 21, bad, 22, bad});
    BOOST_TEST(got.mean == INFINITY);
    BOOST_TEST(std::isnan(got.deviation));
    BOOST_TEST(got.n == 5);
    BOOST_TEST(got.n_nonfinite == 2);
  }
}

BOOST_AUTO_TEST_CASE(of_other_numbers_a_mean_is_that_of_arithmetic) {
  const auto mean = [](const std::vector<double>& values) {
    const Spread got = spread_of(values);
    BOOST_TEST(std::isnan(got.deviation));
    BOOST_TEST(got.n_nonfinite == (values.size() == 3u ? 1 : 2));
    return got.mean;
  };
  BOOST_TEST(mean({20, INFINITY, 21}) == INFINITY);
  BOOST_TEST(mean({20, -INFINITY, 21}) == -INFINITY);
  BOOST_TEST(std::isnan(mean({20, NAN, 21})));
  BOOST_TEST(std::isnan(mean({INFINITY, -INFINITY})));
  const Spread finite = spread_of(std::vector<double>{1, 2, 3, 4, 5});
  BOOST_TEST(finite.mean == 3);
  BOOST_TEST(finite.deviation == std::sqrt(2.5), tolerance(1e-15));
  BOOST_TEST(finite.n_nonfinite == 0);
}

BOOST_AUTO_TEST_CASE(a_seed_that_learned_badly_is_a_number_like_others) {
  // KERPLE, table 3: 43 ± 44 for sinusoidal on ArXiv, four good seeds and one bad would give that.
  const Spread got = spread_of_seeds(std::vector<double>{23, 23, 23, 24, 122});
  BOOST_TEST(std::round(got.mean) == 43);
  BOOST_TEST(std::round(got.deviation) == 44);
  BOOST_TEST(got.n_nonfinite == 0);
}

BOOST_AUTO_TEST_CASE(the_median_is_in_the_middle_or_between) {
  BOOST_TEST(median_of(std::vector<double>{5, 1, 3}) == 3);
  BOOST_TEST(median_of(std::vector<double>{4, 1, 3, 2}) == 2.5);
  BOOST_TEST(median_of(std::vector<double>{1, 1, 2, 100}) == 1.5);
  BOOST_TEST(median_of(std::vector<double>{9}) == 9);
}

BOOST_AUTO_TEST_CASE(of_nothing_there_is_nothing_to_say) {
  BOOST_TEST(std::isnan(mean_of({})));
  BOOST_TEST(std::isnan(median_of({})));
  BOOST_TEST(std::isnan(deviation_of({})));
  BOOST_TEST(std::isnan(standard_error_of({})));
  BOOST_CHECK_EXCEPTION(spread_of({}), ConfigError, says("[spread] bad_argument: "));
  BOOST_CHECK_EXCEPTION(spread_of_seeds({}), ConfigError, says("[spread] bad_argument: "));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
