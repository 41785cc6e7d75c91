#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "apps/analysis/line_fit.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_line_fit)
namespace {

using boost::test_tools::tolerance;

BOOST_AUTO_TEST_CASE(points_on_a_line) {
  const LineFit got = fit_line(std::vector<double>{0, 1, 2, 5}, std::vector<double>{3, 1, -1, -7});
  BOOST_TEST(got.slope == -2, tolerance(1e-14));
  BOOST_TEST(got.intercept == 3, tolerance(1e-14));
  BOOST_TEST(got.residual < 1e-14);
  BOOST_TEST(got.n == 4);
}

BOOST_AUTO_TEST_CASE(a_small_case_by_hand) {
  // x = 0, 1, 2, 3 and y = 0, 1, 1, 2: xx = 5, xy = 3; residuals -0.1, 0.3, -0.3, 0.1
  const LineFit got = fit_line(std::vector<double>{0, 1, 2, 3}, std::vector<double>{0, 1, 1, 2});
  BOOST_TEST(got.slope == 0.6, tolerance(1e-14));
  BOOST_TEST(got.intercept == 0.1, tolerance(1e-13));
  BOOST_TEST(got.residual == std::sqrt(0.2 / 4), tolerance(1e-13));
  BOOST_TEST(got.slope_error == std::sqrt(0.2 / 2 / 5), tolerance(1e-13));
  const Interval interval = got.slope_interval();
  const double half = 4.302652730 * std::sqrt(0.02);  // t of 2 degrees of freedom
  BOOST_TEST(interval.low == 0.6 - half, tolerance(1e-8));
  BOOST_TEST(interval.high == 0.6 + half, tolerance(1e-8));
  BOOST_TEST(got.slope_interval(0.5).low > interval.low);
}

BOOST_AUTO_TEST_CASE(far_from_zero_nothing_cancels) {
  std::vector<double> x, y;
  for (int i = 0; i < 100; ++i) {
    x.push_back(1e8 + i);
    y.push_back(1e8 + 0.25 * i);
  }
  BOOST_TEST(fit_line(x, y).slope == 0.25, tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(two_points_have_a_slope_but_no_interval) {
  const LineFit got = fit_line(std::vector<double>{1, 2}, std::vector<double>{1, 4});
  BOOST_TEST(got.slope == 3);
  BOOST_TEST(std::isnan(got.slope_error));
  BOOST_TEST(std::isnan(got.slope_interval().low));
  BOOST_TEST(std::isnan(got.slope_interval().high));
}

BOOST_AUTO_TEST_CASE(what_has_no_line_is_refused) {
  const std::vector<double> one{1}, two{1, 2}, equal{0.1, 0.1, 0.1}, bad{1, NAN};
  BOOST_CHECK_EXCEPTION(fit_line(one, one), ConfigError,
                        says("[line-fit] bad_argument: expected at least 2 different points"));
  BOOST_CHECK_EXCEPTION(fit_line({}, {}), ConfigError, says("bad_argument: ", "0 points"));
  BOOST_CHECK_EXCEPTION(fit_line(equal, std::vector<double>{1, 2, 3}), ConfigError,
                        says("bad_argument: ", "3 points at one place"));
  BOOST_CHECK_EXCEPTION(fit_line(one, two), ConfigError, says("bad_argument: ", "2 for 1"));
  BOOST_CHECK_EXCEPTION(fit_line(two, bad, "here"), Error,
                        says("[here] nonfinite_points: ", "(2, nan) as point 1"));
  BOOST_CHECK_EXCEPTION(fit_line(bad, two), Error, says("nonfinite_points: "));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
