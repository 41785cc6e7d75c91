#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/analysis/gradient_norms.h"
#include "apps/analysis/receptive_field.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_receptive_field)
namespace {

std::vector<double> uniform(size_t n) { return std::vector<double>(n, 1 / static_cast<double>(n)); }

int64_t field_of(const std::vector<double>& s, double tau = 0.99) {
  return empirical_receptive_field(cumulative_gradient(s), tau);
}

BOOST_AUTO_TEST_CASE(the_mean_of_embeddings_has_a_field_of_99_percent_of_its_inputs) {
  BOOST_TEST(field_of(uniform(150)) == 149);  // floor(148.5) + 1
  BOOST_TEST(field_of(uniform(50)) == 50);
  BOOST_TEST(field_of(uniform(1010)) == 1000);  // floor(999.9) + 1
}

BOOST_AUTO_TEST_CASE(one_input_is_its_own_field) { BOOST_TEST(field_of({1}) == 1); }

BOOST_AUTO_TEST_CASE(inputs_out_of_reach_are_not_in_the_field) {
  // A window of 4 in 3 layers reaches (4 - 1) 3 + 1 = 10 inputs; shares beyond are exactly 0.
  std::vector<double> s(64, 0.0);
  for (size_t i = 54; i < 64; ++i) s[i] = 0.1;
  BOOST_TEST(field_of(s) == 10);
  BOOST_TEST(field_of(s) <= theoretical_field(4, 3, 64, 16).exact);
}

BOOST_AUTO_TEST_CASE(the_threshold_is_strict) {
  const std::vector<double> s{0.25, 0.25, 0.25, 0.25};
  BOOST_TEST(field_of(s, 0.5) == 3);  // 0.5 is not more than 0.5
  BOOST_TEST(field_of(s, 0.49) == 2);
  BOOST_TEST(field_of(s, 0.999) == 4);
}

BOOST_AUTO_TEST_CASE(it_counts_recent_inputs_not_positions) {
  // Read as printed in the paper, min { m | c_m > tau }, this would be 1.
  std::vector<double> s(100, 0.0);
  s[97] = s[98] = s[99] = 1.0 / 3;
  BOOST_TEST(field_of(s) == 3);
}

BOOST_AUTO_TEST_CASE(the_share_of_the_last_inputs) {
  const std::vector<double> c = cumulative_gradient(std::vector<double>{0.5, 0.25, 0.125, 0.125});
  BOOST_TEST(recent_share(c, 1) == 0.125);
  BOOST_TEST(recent_share(c, 3) == 0.5);
  BOOST_TEST(recent_share(c, 4) == 1);
  BOOST_TEST(recent_share(c, 4000) == 1);
}

BOOST_AUTO_TEST_CASE(fields_are_rounded_up_to_the_grid_of_the_papers) {
  BOOST_TEST(round_up_to_grid(1, 256) == 256);
  BOOST_TEST(round_up_to_grid(256, 256) == 256);
  BOOST_TEST(round_up_to_grid(257, 256) == 512);
  BOOST_TEST(round_up_to_grid(2047, 256) == 2048);  // what the paper quotes of 2047 inputs
  BOOST_TEST(round_up_to_grid(95, 32) == 96);
}

BOOST_AUTO_TEST_CASE(shares_are_averaged_before_they_are_cumulated) {
  // Fields 1, 1 and 4 with median 1; the average has shares 1/12 (three times) and 3/4.
  const std::vector<std::vector<double>> segments{
      {0, 0, 0, 1}, {0, 0, 0, 1}, {0.25, 0.25, 0.25, 0.25}};
  const EmpiricalField got = empirical_field(segments, 2);
  BOOST_TEST(got.field == 4);
  BOOST_TEST(got.median_field == 1);
  BOOST_TEST(got.n_segments == 3);
  BOOST_TEST(got.recent == 10.0 / 12, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(got.s[0] == 1.0 / 12, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(got.c[3] == 0.75, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(empirical_field(segments, 2, 0.8).field == 2);
}

BOOST_AUTO_TEST_CASE(the_median_of_an_even_count_lies_between) {
  const std::vector<std::vector<double>> segments{{0, 0, 0, 1}, {0.25, 0.25, 0.25, 0.25}};
  BOOST_TEST(empirical_field(segments, 2).median_field == 2.5);
}

// Shares such as those of a model with absolute positions: flat, most on the last inputs, and a
// spike of `height` times the rest at 61 to 65.
std::vector<double> with_spike(double height) {
  std::vector<double> norms(255, 1.0);
  for (size_t m = 61; m <= 65; ++m) norms[m - 1] = height;
  for (size_t m = 250; m <= 255; ++m) norms[m - 1] = 40;
  return normalized_gradient(norms);
}

BOOST_AUTO_TEST_CASE(a_spike_at_the_training_length_is_a_jump) {
  const GradientJump got = find_jump(with_spike(4.6), 64, 64);
  BOOST_TEST(got.found);
  BOOST_TEST(got.peak == 61);
  BOOST_TEST(got.height == 4.6, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_low_spike_or_one_elsewhere_is_no_jump) {
  BOOST_TEST(!find_jump(with_spike(2.9), 64, 64).found);
  BOOST_TEST(find_jump(with_spike(3.1), 64, 64).found);
  BOOST_TEST(find_jump(with_spike(4), 67, 64).found);  // 65 is within 2 of it
  BOOST_TEST(find_jump(with_spike(4), 68, 64).height == 1);
  BOOST_TEST(find_jump(with_spike(4), 59, 64).found);  // so is 61
  BOOST_TEST(find_jump(with_spike(4), 58, 64).height == 1);
  BOOST_TEST(!find_jump(with_spike(4), 68, 64).found);
  BOOST_TEST(!find_jump(with_spike(4), 128, 64).found);
}

BOOST_AUTO_TEST_CASE(a_spike_that_is_not_the_largest_is_no_jump) {
  std::vector<double> norms(255, 1.0);
  norms[63] = 10;  // input 64
  norms[71] = 11;  // input 72, which is 64 / 8 away
  BOOST_TEST(find_jump(normalized_gradient(norms), 64, 64).found);
  norms[72] = 12;
  const GradientJump got = find_jump(normalized_gradient(norms), 64, 64);
  BOOST_TEST(got.peak == 73);
  BOOST_TEST(got.height == 10, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(!got.found);
}

BOOST_AUTO_TEST_CASE(the_last_inputs_do_not_hide_a_jump) {
  // 8 of them are left out; a ninth large one has the peak.
  std::vector<double> norms(255, 1.0);
  norms[63] = 10;
  for (size_t m = 248; m <= 255; ++m) norms[m - 1] = 40;
  BOOST_TEST(find_jump(normalized_gradient(norms), 64, 64).found);
  norms[246] = 40;
  const GradientJump hidden = find_jump(normalized_gradient(norms), 64, 64);
  BOOST_TEST(!hidden.found);
  BOOST_TEST(hidden.peak == 247);
}

BOOST_AUTO_TEST_CASE(a_spike_among_zeros_is_infinitely_high) {
  std::vector<double> s(64, 0.0);
  s[31] = 1;
  BOOST_TEST(find_jump(s, 32, 32).height == INFINITY);
  s[31] = 0;
  s[0] = 1;
  BOOST_TEST(find_jump(s, 32, 32).height == 0);
}

BOOST_AUTO_TEST_CASE(theoretical_fields_of_the_paper) {
  const TheoreticalField wide = theoretical_field(100, 12, 2047, 512);
  BOOST_TEST(wide.paper == 1200);
  BOOST_TEST(wide.exact == 1189);
  BOOST_TEST(!wide.covered);
  BOOST_TEST(theoretical_field(40, 12, 2047, 512).exact == 469);
  BOOST_TEST(theoretical_field(320, 12, 2047, 512).exact == 2047);  // no more than there are
  BOOST_TEST(theoretical_field(1, 12, 2047, 512).exact == 1);
}

BOOST_AUTO_TEST_CASE(a_model_is_covered_up_to_train_len_over_n_layer) {
  BOOST_TEST(theoretical_field(42, 12, 2047, 512).covered);  // 512 / 12 = 42.67
  BOOST_TEST(!theoretical_field(43, 12, 2047, 512).covered);
  BOOST_TEST(theoretical_field(128, 4, 2047, 512).covered);  // exactly 512
}

BOOST_AUTO_TEST_CASE(without_a_window_everything_is_in_reach) {
  const TheoreticalField field = theoretical_field({}, 12, 2047, 512);
  BOOST_TEST(field.paper == 2047);
  BOOST_TEST(field.exact == 2047);
  BOOST_TEST(!field.covered);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const std::vector<double> c{1, 0.5};
  for (const double tau : {0.0, 1.0, -1.0, 2.0, static_cast<double>(NAN)})
    BOOST_CHECK_EXCEPTION(empirical_receptive_field(c, tau), ConfigError,
                          says("[eval:gradient] bad_argument: expected tau"));
  BOOST_CHECK_EXCEPTION(empirical_receptive_field({}, 0.99), ConfigError,
                        says("bad_argument: expected inputs >= 1, got 0"));
  BOOST_CHECK_EXCEPTION(recent_share(c, 0), ConfigError, says("bad_argument: "));
  BOOST_CHECK_EXCEPTION(recent_share({}, 1), ConfigError, says("bad_argument: expected inputs"));
  BOOST_CHECK_EXCEPTION(round_up_to_grid(0, 256), ConfigError, says("bad_argument: "));
  BOOST_CHECK_EXCEPTION(round_up_to_grid(1, 0), ConfigError, says("bad_argument: expected a grid"));
  BOOST_CHECK_EXCEPTION(find_jump(c, 3, 8), ConfigError, says("expected a position from 1 to 2"));
  BOOST_CHECK_EXCEPTION(find_jump(c, 0, 8), ConfigError, says("expected a position from 1 to 2"));
  BOOST_CHECK_EXCEPTION(find_jump(c, 1, 0), ConfigError, says("expected train_len >= 1"));
  BOOST_CHECK_EXCEPTION(find_jump(c, 1, 16), ConfigError, says("expected more than 2 inputs"));
  BOOST_CHECK_EXCEPTION(theoretical_field(0, 12, 2047, 512), ConfigError,
                        says("[eval:reach] bad_argument: expected a window >= 1, got 0"));
  BOOST_CHECK_EXCEPTION(theoretical_field(int64_t{1} << 62, 2, 2047, 512), ConfigError,
                        says("[eval:reach] bad_argument: expected a window whose product"));
  BOOST_CHECK_EXCEPTION(theoretical_field(1, 0, 2047, 512), ConfigError,
                        says("bad_argument: expected n_layer >= 1"));
  BOOST_CHECK_EXCEPTION(theoretical_field({}, 1, 0, 512), ConfigError, says("bad_argument: "));
  BOOST_CHECK_EXCEPTION(theoretical_field({}, 1, 1, 0), ConfigError, says("bad_argument: "));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
