#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/analysis/fisher.h"
#include "engine/base/error.h"

using namespace farfield;
using namespace farfield::analysis;

BOOST_AUTO_TEST_SUITE(test_fisher)

BOOST_AUTO_TEST_CASE(factors_are_the_roots_of_the_tables_quantiles) {
  // F of 2 and 2 degrees of freedom has the closed form q / (1 - q); of 4 and 4 the tables have
  // 9.6045.
  BOOST_TEST(deviation_ratio_factor(2) == std::sqrt(0.975 / 0.025),
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(deviation_ratio_factor(4) == std::sqrt(9.6045), boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(more_models_tell_more) {
  BOOST_TEST(deviation_ratio_factor(20) < deviation_ratio_factor(4));
  BOOST_TEST(deviation_ratio_factor(4, 0.5) < deviation_ratio_factor(4, 0.95));
}

BOOST_AUTO_TEST_CASE(bad_input_is_refused) {
  BOOST_CHECK_THROW(deviation_ratio_factor(0), ConfigError);
  BOOST_CHECK_THROW(deviation_ratio_factor(4, 1), ConfigError);
}

BOOST_AUTO_TEST_SUITE_END()
