#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_sandwich_smoothed)  // ctest: on_cuda
namespace {

// a at compression ratio 1.
double coefficient_of(const std::string& arguments) {
  const Composition c(concat("sandwich_smoothed(h=1, ", arguments, ')'), model_of(1));
  return -at_distances(rule_of(c, 2).bias, {1})[0] / std::log(2.0);
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) {
  check_golden_tables({.key = "sandwich_smoothed_recent50_128", .encoding = "sandwich_smoothed"});
  check_golden_tables({.key = "sandwich_smoothed_published_128",
                       .encoding = "sandwich_smoothed",
                       .more = "fit=published"});
}

BOOST_AUTO_TEST_CASE(the_fit_is_the_golden_one_for_every_width) {
  const auto& file = farfield::test::golden("sandwich_fit.json");
  int n_compared = 0;
  for (const auto& fit : file["fits"]) {
    if (fit["d_first"] != 0 || fit["d_last"] != 49) continue;
    BOOST_TEST(all_close(std::vector{coefficient_of(concat("bar_d=", fit["bar_d"].get<int>()))},
                         std::vector{fit["a_times_h"].get<double>()}, Tolerance(0, 1e-12)));
    ++n_compared;
  }
  BOOST_TEST(n_compared == 3);
}

BOOST_AUTO_TEST_CASE(the_factor_may_be_given) {
  BOOST_TEST(std::abs(coefficient_of("fit=6.6") - 6.6) < 1e-14);
  BOOST_TEST(std::abs(coefficient_of("fit=published") - 6.6) < 1e-14);
}

BOOST_AUTO_TEST_CASE(it_is_kerple_log_with_rate_one) {
  const Composition smoothed("sandwich_smoothed(h=[2,8], fit=6.6)", model_of(2));
  const Composition kerple("kerple_log(r1=[3.3,0.825], r2=1)", model_of(2));
  BOOST_TEST(
      all_close(rule_of(smoothed, 300).bias, rule_of(kerple, 300).bias, Tolerance(0, 1e-14)));
}

BOOST_AUTO_TEST_CASE(the_published_curve_of_another_setting_is_refused) {
  for (const char* setting : {"bar_d=64", "base=1000", "first_index=1"})
    BOOST_TEST(
        error_of_expression(concat("sandwich_smoothed(", setting, ", fit=published)"), model_of(2))
            .find("sandwich_smoothed(fit): expected bar_d 128, base 10000 and first_index 0 "
                  "with the published curve; write fit=recent50 for others at column ") !=
        std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
