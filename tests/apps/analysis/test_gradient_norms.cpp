#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "apps/analysis/gradient_norms.h"
#include "engine/base/error.h"
#include "tests/support/all_close.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_gradient_norms)
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

BOOST_AUTO_TEST_CASE(a_norm_is_that_of_a_row) {
  const std::vector<float> gradient{3, -4, 0, 0, 5, 12};
  BOOST_TEST(all_close(gradient_norms(gradient, 2), std::vector<double>{5, 0, 13}, 1e-15));
  BOOST_TEST(all_close(gradient_norms(gradient, 3), std::vector<double>{5, 13}, 1e-15));
}

BOOST_AUTO_TEST_CASE(tiny_and_huge_components_neither_underflow_nor_overflow) {
  const std::vector<double> wide{3e-200, 4e-200, 3e200, 4e200};
  BOOST_TEST(all_close(gradient_norms(wide, 2), std::vector<double>{5e-200, 5e200}, {0, 1e-14}));
  const std::vector<float> narrow{3e-30F, 4e-30F, 3e38F, 2e38F};
  const std::vector<double> want{std::hypot(double{3e-30F}, double{4e-30F}),
                                 std::hypot(double{3e38F}, double{2e38F})};
  BOOST_TEST(all_close(gradient_norms(narrow, 2), want, {0, 1e-14}));
}

BOOST_AUTO_TEST_CASE(a_wide_row_of_float32_is_summed_in_float64) {
  // In float32 the sum of 2^26 equal squares stops growing at 2^24 of them; here 2^24 + 1000.
  constexpr int64_t kWidth = (1 << 24) + 1000;
  const std::vector<float> gradient(kWidth, 0.1F);
  const double want = double{0.1F} * std::sqrt(static_cast<double>(kWidth));
  BOOST_TEST(gradient_norms(gradient, kWidth)[0] == want, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(shares_sum_to_one_and_any_positive_factor_cancels) {
  const std::vector<double> norms{1, 2, 5};
  const std::vector<double> want{0.125, 0.25, 0.625};
  BOOST_TEST(all_close(normalized_gradient(norms), want, 1e-15));
  for (const double factor : {1000.0, 1e-320, 3e307}) {
    std::vector<double> scaled;
    for (const double x : norms) scaled.push_back(x * factor);
    // 1e-320 is denormal: the scaled norms themselves have three digits
    BOOST_TEST(all_close(normalized_gradient(scaled), want, factor < 1e-300 ? 1e-3 : 1e-14));
  }
}

BOOST_AUTO_TEST_CASE(cumulative_shares_count_from_the_end) {
  const std::vector<double> s{0.125, 0.25, 0.625};
  BOOST_TEST(cumulative_gradient(s) == (std::vector<double>{1, 0.875, 0.625}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(cumulative_shares_stay_within_zero_and_one) {
  for (const size_t n : {3U, 150U, 2047U}) {
    const std::vector<double> c =
        cumulative_gradient(std::vector<double>(n, 1 / static_cast<double>(n)));
    BOOST_TEST(c.front() == 1);
    for (size_t i = 0; i < n; ++i) {
      BOOST_TEST_REQUIRE((c[i] >= 0 && c[i] <= 1));
      BOOST_TEST_REQUIRE((i == 0 || c[i] <= c[i - 1]));
    }
  }
  const std::vector<double> above{0, 1 + 5e-10};  // as rounding might leave them
  BOOST_TEST(cumulative_gradient(above) == (std::vector<double>{1, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(segments_are_averaged_share_by_share) {
  const std::vector<std::vector<double>> s{{1, 0}, {0.5, 0.5}, {0, 1}, {0.5, 0.5}};
  BOOST_TEST(mean_gradient(s) == (std::vector<double>{0.5, 0.5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_gradient_that_is_zero_everywhere_is_an_error) {
  BOOST_CHECK_EXCEPTION(normalized_gradient(std::vector<double>{0, 0}), Error,
                        says("[eval:gradient] zero_gradient: ", "logit"));
}

BOOST_AUTO_TEST_CASE(a_gradient_that_is_not_finite_names_its_input) {
  const std::vector<float> gradient{1, 2, kNan, 4, 5, 6};
  BOOST_CHECK_EXCEPTION(gradient_norms(gradient, 2), Error,
                        says("[eval:gradient] nonfinite_gradient: ", "input 2 of 3"));
  BOOST_CHECK_EXCEPTION(gradient_norms(std::vector<double>{1, INFINITY}, 1), Error,
                        says("nonfinite_gradient: ", "inf at input 2 of 2"));
  BOOST_CHECK_EXCEPTION(normalized_gradient(std::vector<double>{1, NAN}), Error,
                        says("nonfinite_gradient: ", "input 2 of 2"));
  BOOST_CHECK_EXCEPTION(normalized_gradient(std::vector<double>{-1, 1}), Error,
                        says("nonfinite_gradient: ", "got -1 at input 1"));
}

BOOST_AUTO_TEST_CASE(what_is_no_gradient_is_refused) {
  const std::vector<float> five(5);
  BOOST_CHECK_EXCEPTION(gradient_norms(five, 2), ConfigError,
                        says("bad_argument: ", "5 components and width 2"));
  BOOST_CHECK_EXCEPTION(gradient_norms(five, 0), ConfigError, says("bad_argument: "));
  BOOST_CHECK_EXCEPTION(gradient_norms(std::vector<float>{}, 1), ConfigError,
                        says("bad_argument: "));
  BOOST_CHECK_EXCEPTION(normalized_gradient(std::vector<double>{}), ConfigError,
                        says("bad_argument: expected inputs"));
  BOOST_CHECK_EXCEPTION(cumulative_gradient(std::vector<double>{}), ConfigError,
                        says("bad_argument: expected inputs"));
  BOOST_CHECK_EXCEPTION(cumulative_gradient(std::vector<double>{0.5, 0.5 + 2e-9}), ConfigError,
                        says("bad_argument: expected shares that sum to 1"));
  BOOST_CHECK_EXCEPTION(mean_gradient({}), ConfigError, says("expected segments"));
  const std::vector<std::vector<double>> uneven{{1}, {0.5, 0.5}};
  BOOST_CHECK_EXCEPTION(mean_gradient(uneven), ConfigError,
                        says("expected segments of 1 inputs, got 2"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
