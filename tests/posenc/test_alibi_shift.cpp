#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_alibi_shift)  // ctest: on_cuda
namespace {

std::vector<double> slopes_of(std::string_view expression, int64_t n_head) {
  std::vector<double> slopes =
      at_distances(rule_of(Composition(expression, model_of(n_head)), 2).bias, {1});
  for (double& slope : slopes) slope = -slope;
  return slopes;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) {
  for (const int delta : {-3, 0, 2, 4, 6, 8})
    check_golden_tables(
        {.key = concat("alibi_shift_", delta), .encoding = "alibi_shift", .parameters = {"delta"}});
}

BOOST_AUTO_TEST_CASE(other_slope_sets_are_shifted_too) {
  std::vector<double> want = slopes_of("alibi(interp)", 12);
  for (double& x : want) x /= 4;
  BOOST_TEST(all_close(slopes_of("alibi_shift(2, slopes=interp)", 12), want, Tolerance(0)));
  BOOST_TEST(all_close(slopes_of("alibi_shift(-1, slopes=[0.5,0.25])", 2),
                       std::vector<double>{1, 0.5}, Tolerance(0)));
}

BOOST_AUTO_TEST_CASE(each_head_may_have_its_own_shift) {
  BOOST_TEST(all_close(slopes_of("alibi_shift([0,3], slopes=1)", 2), std::vector<double>{1, 0.125},
                       Tolerance(0)));
}

BOOST_AUTO_TEST_CASE(shifted_slopes_are_raised_to_the_floor) {
  BOOST_TEST(all_close(slopes_of("alibi_shift(4, slopes=[1,0.5], slope_floor=0.05)", 2),
                       std::vector<double>{0.0625, 0.05}, Tolerance(0)));
}

// Added before the scale of head_dim 64, ALiBi is the same as shifted by 3 and added after.
BOOST_AUTO_TEST_CASE(a_shift_of_three_is_the_bias_before_the_scale_of_64) {
  BOOST_TEST(all_close(slopes_of("alibi_shift(3)", 8), slopes_of("alibi(bias_scale=0.125)", 8),
                       Tolerance(0)));
}

BOOST_AUTO_TEST_CASE(the_shift_must_be_given) {
  BOOST_TEST(error_of_expression("alibi_shift", model_of(2)) ==
             "[posenc] alibi_shift needs delta, a number >= -64 and <= 64 or a list of them, one "
             "per head (halvings of the slope; negative: steeper); write alibi_shift(delta=...) at "
             "column 1\n"
             "  alibi_shift\n"
             "  ^");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
