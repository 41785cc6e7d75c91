#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "apps/analysis/log_fit.h"
#include "engine/base/error.h"
#include "tests/support/golden.h"
#include "tests/support/messages.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_log_fit)
namespace {

using boost::test_tools::tolerance;

// The curve of Sandwich for one head, by the paper's formula.
std::vector<double> sandwich(const std::vector<double>& distance, int bar_d, double h,
                             int first_index = 0) {
  std::vector<double> y;
  for (const double d : distance) {
    double sum = -bar_d / 2;
    for (int i = first_index; i < bar_d / 2 + first_index; ++i)
      sum += std::cos(d * std::pow(1e4, -2.0 * i / bar_d));
    y.push_back(sum / h);
  }
  return y;
}

std::vector<double> distances(int first, int last) {
  std::vector<double> all;
  for (int d = first; d <= last; ++d) all.push_back(d);
  return all;
}

LineFit fit(int first, int last, double h = 8, int first_index = 0) {
  const std::vector<double> d = distances(first, last);
  return fit_log(d, sandwich(d, 128, h, first_index));
}

BOOST_AUTO_TEST_CASE(recomputed_coefficients_of_figure_9) {
  struct Row {
    int first, last;
    double a, b;
  };
  for (const Row& row : {Row{0, 8191, -0.832402, -0.793819}, Row{1, 8191, -0.831615, -0.800223},
                         Row{0, 49, -1.024485, -0.015073}, Row{1, 50, -1.011043, -0.048096}}) {
    const LineFit got = fit(row.first, row.last);
    BOOST_TEST(std::abs(got.slope - row.a) < 5.1e-7);
    BOOST_TEST(std::abs(got.intercept - row.b) < 5.1e-7);
    BOOST_TEST(got.n == row.last - row.first + 1);
  }
}

BOOST_AUTO_TEST_CASE(frequencies_counted_from_one_do_not_give_the_printed_fit) {
  const LineFit got = fit(0, 8191, 8, 1);
  BOOST_TEST(std::abs(got.slope - -0.841310) < 5.1e-7);
  BOOST_TEST(std::abs(got.intercept - -0.610961) < 5.1e-7);
}

BOOST_AUTO_TEST_CASE(the_whole_row_is_within_one_percent_of_what_is_printed) {
  BOOST_TEST(fit(0, 8191).slope == -0.825, tolerance(0.01));
  BOOST_TEST(fit(0, 8191).intercept == -0.8, tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(another_head_is_a_multiple) {
  const LineFit of_8 = fit(0, 500), of_2 = fit(0, 500, 2);
  BOOST_TEST(of_2.slope == 4 * of_8.slope, tolerance(1e-12));
  BOOST_TEST(of_2.intercept == 4 * of_8.intercept, tolerance(1e-12));
  BOOST_TEST(of_2.residual == 4 * of_8.residual, tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(golden_fits_of_three_widths) {
  for (const auto& row : test::golden("sandwich_fit.json")["fits"]) {
    const std::vector<double> d = distances(row["d_first"], row["d_last"]);
    const LineFit got = fit_log(d, sandwich(d, row["bar_d"], row["h"]));
    BOOST_TEST(got.slope == -row["a"].get<double>(), tolerance(1e-9));
    BOOST_TEST(got.intercept == row["c"].get<double>(), tolerance(1e-7));
    BOOST_TEST(got.residual == row["rms_residual"].get<double>(), tolerance(1e-9));
  }
}

BOOST_AUTO_TEST_CASE(what_has_no_fit_is_refused) {
  const std::vector<double> two{0, 1};
  BOOST_CHECK_EXCEPTION(fit_log(std::vector<double>{0, -1}, two), ConfigError,
                        says("[log-fit] bad_argument: expected distances from 0 on, got -1"));
  BOOST_CHECK_EXCEPTION(fit_log(std::vector<double>{3, 3}, two), ConfigError,
                        says("[log-fit] bad_argument: expected at least 2 different points"));
  BOOST_CHECK_EXCEPTION(fit_log(std::vector<double>{3, NAN}, two), Error,
                        says("[log-fit] nonfinite_points: "));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
