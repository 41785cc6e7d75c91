#include <boost/test/unit_test.hpp>
#include <cmath>

#include "data/synthetic/elementary.h"
#include "tests/support/largest_error.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_elementary)
namespace {

BOOST_AUTO_TEST_CASE(the_logarithm_is_that_of_the_library_to_rounding) {
  double worst = 0;
  for (double x = 1e-300; x < 1e300; x *= 1.0371)
    worst = test::larger_error(worst, std::abs(portable_log(x) / std::log(x) - 1));
  for (double x = 0.5; x < 2; x += 0.00013)
    worst = test::larger_error(worst, std::abs(portable_log(x) - std::log(x)));
  BOOST_TEST(worst < 4e-16);
  BOOST_TEST(portable_log(1) == 0);
}

BOOST_AUTO_TEST_CASE(the_exponential_is_that_of_the_library_to_rounding) {
  double near = 0, far = 0;
  for (double x = -1; x <= 1; x += 0.0007)
    near = test::larger_error(near, std::abs(portable_exp(x) / std::exp(x) - 1));
  for (double x = -700; x <= 700; x += 0.37)
    far = test::larger_error(far, std::abs(portable_exp(x) / std::exp(x) - 1));
  BOOST_TEST(near < 5e-16);
  BOOST_TEST(far < 1e-13);
  BOOST_TEST(portable_exp(0) == 1);
  BOOST_TEST(portable_exp(-1e308) == 0);
}

BOOST_AUTO_TEST_CASE(bits_are_those_that_were_written_down) {
  BOOST_TEST(portable_log(0.1) == -0x1.26bb1bbb55515p+1);
  BOOST_TEST(portable_log(3e7) == 0x1.1377a2be97aa3p+4);
  BOOST_TEST(portable_exp(-7.25) == 0x1.7455fe323fafep-11);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
