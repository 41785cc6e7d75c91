#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "apps/analysis/curve.h"
#include "apps/analysis/perplexity.h"
#include "apps/eval/protocols/non_overlapping.h"
#include "engine/base/error.h"
#include "tests/support/all_close.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_curve)
namespace {

using boost::test_tools::tolerance;

BOOST_AUTO_TEST_CASE(each_position_is_averaged_over_sequences) {
  const std::vector<std::vector<double>> nll{{1, 2, 3}, {3, 2, 7}, {5, 2, 5}};
  const PositionCurve got = position_curve(nll);
  BOOST_TEST(all_close(got.mean_nll, std::vector<double>{3, 2, 5}, 1e-15));
  const double error = 2 / std::sqrt(3.0);
  BOOST_TEST(all_close(got.nll_error, std::vector<double>{error, 0, error}, 1e-15));
  BOOST_TEST(got.n == (std::vector<int64_t>{3, 3, 3}), boost::test_tools::per_element());
  // exp of the mean, not the mean of exp
  BOOST_TEST(perplexities_of(got.mean_nll)[0] == std::exp(3.0), tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(a_sequence_that_ends_early_counts_as_far_as_it_goes) {
  const std::vector<std::vector<double>> nll{{1, 2, 3}, {3, 6}, {5}};
  const PositionCurve got = position_curve(nll);
  BOOST_TEST(all_close(got.mean_nll, std::vector<double>{3, 4, 3}, 1e-15));
  BOOST_TEST(got.n == (std::vector<int64_t>{3, 2, 1}), boost::test_tools::per_element());
  BOOST_TEST(std::isnan(got.nll_error[2]));
  BOOST_TEST(mean_nll_of(got) == 20.0 / 6, tolerance(1e-15));  // of the six numbers above
}

BOOST_AUTO_TEST_CASE(one_sequence_has_no_error_and_no_band) {
  const PositionCurve got = position_curve(std::vector<std::vector<double>>{{1, 2}});
  BOOST_TEST(got.mean_nll[1] == 2);
  BOOST_TEST(std::isnan(got.nll_error[0]));
  BOOST_TEST(std::isnan(confidence_band(got).low[0]));
  BOOST_TEST(std::isnan(confidence_band(got).high[1]));
}

BOOST_AUTO_TEST_CASE(the_weighted_mean_is_the_result_of_the_non_overlapping_protocol) {
  // Chunks of 7 of 40 targets, and a tail of 5: each position weighted by its chunks.
  std::vector<double> of_target;
  for (int i = 0; i < 40; ++i) of_target.push_back(1 + std::sin(1.7 * i));
  eval::Scorer model;
  model.vocab_size = 41;
  model.score = [&](const eval::Scorer::Ids&, const eval::Scorer::Ids& targets, int64_t) {
    std::vector<double> nll;
    for (const int32_t target : targets) nll.push_back(of_target[static_cast<size_t>(target - 1)]);
    return nll;
  };
  eval::TokenStream text;
  text.size = 41;
  text.copy = [](int64_t begin, int64_t n, int32_t* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int32_t>(begin + i);
  };
  eval::Subject subject;
  subject.model.scorer = model;
  subject.text = text;
  eval::CommonOptions common;
  common.lengths = {7};
  eval::NonOverlappingOptions options;
  options.keep_tail = true;
  const eval::LengthResult want = eval::non_overlapping(subject, common, options).lengths[0];

  std::vector<std::vector<double>> nll;
  for (size_t i = 0; i < of_target.size(); ++i) {
    if (i % 7 == 0) nll.emplace_back();
    nll.back().push_back(of_target[i]);
  }
  const double got = mean_nll_of(position_curve(nll));
  BOOST_TEST(got == want.mean_nll, tolerance(1e-14));
  BOOST_TEST(perplexity_of(got) == want.perplexity(), tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(smoothing_averages_a_centred_window_cut_at_the_ends) {
  const std::vector<double> nll{0, 3, 6, 0, 0, 30};
  BOOST_TEST(all_close(smoothed(nll, 1), std::vector<double>{1.5, 3, 3, 2, 10, 15}, 1e-15));
  BOOST_TEST(smoothed(nll, 0) == nll, boost::test_tools::per_element());
  BOOST_TEST(all_close(smoothed(nll, 1000), std::vector<double>(6, 6.5), 1e-15));
}

BOOST_AUTO_TEST_CASE(smoothing_in_log_position_leaves_the_beginning_and_widens_with_it) {
  BOOST_TEST(drawn_positions(0).empty());
  BOOST_TEST(drawn_positions(1) == (std::vector<int64_t>{1}), boost::test_tools::per_element());
  const std::vector<int64_t> at = drawn_positions(300);
  for (int64_t t = 1; t <= 12; ++t) BOOST_TEST(at.at(static_cast<size_t>(t - 1)) == t);
  BOOST_TEST(at.back() == 300);
  BOOST_TEST(std::is_sorted(at.begin(), at.end()));
  std::vector<double> nll;
  for (int t = 1; t <= 300; ++t) nll.push_back(t);
  const std::vector<int64_t> some = {1, 11, 12, 101, 300};
  // 11: 10 to 12. 12: 11 to 13. 101: 88 to 116. 300: 261 to the end.
  BOOST_TEST(all_close(log_smoothed(nll, some), std::vector<double>{1, 11, 12, 102, 280.5}, 1e-15));
}

BOOST_AUTO_TEST_CASE(the_default_window_has_65_positions) {
  std::vector<double> nll(200, 0.0);
  nll[100] = 65;
  const std::vector<double> got = smoothed(nll);
  for (size_t i = 0; i < 200; ++i) BOOST_TEST(got[i] == (i >= 68 && i <= 132 ? 1.0 : 0.0));
}

BOOST_AUTO_TEST_CASE(the_perplexity_at_512_is_that_of_505_to_520) {
  std::vector<double> nll(1000, 100.0);
  for (size_t t = 505; t <= 520; ++t) nll[t - 1] = static_cast<double>(t - 505);
  BOOST_TEST(perplexity_at(nll, 512) == std::exp(7.5), tolerance(1e-14));
  BOOST_TEST(perplexity_at(nll, 511) > std::exp(7.5));
  BOOST_TEST(perplexity_at(nll, 513) > std::exp(7.5));
  BOOST_TEST(perplexity_at(std::vector<double>(16, 2.0), 8) == std::exp(2.0), tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(a_huge_nll_has_an_infinite_perplexity) {
  BOOST_TEST(perplexities_of(std::vector<double>{700.5})[0] == INFINITY);
  BOOST_TEST(std::isfinite(perplexities_of(std::vector<double>{699.5})[0]));
}

BOOST_AUTO_TEST_CASE(a_band_is_students_interval_of_the_mean) {
  const std::vector<std::vector<double>> nll{{1, 2}, {2, 2}, {3, 2}, {4, 2}, {5}};
  const Band band = confidence_band(position_curve(nll));
  const double half = 2.776445105 * std::sqrt(2.5 / 5);  // four degrees of freedom
  BOOST_TEST(band.low[0] == std::exp(3 - half), tolerance(1e-8));
  BOOST_TEST(band.high[0] == std::exp(3 + half), tolerance(1e-8));
  BOOST_TEST(band.low[1] == std::exp(2.0));  // no spread, no width
  const Band narrow = confidence_band(position_curve(nll), 0.5);
  BOOST_TEST(narrow.low[0] > band.low[0]);
  BOOST_TEST(narrow.high[0] < band.high[0]);
}

// nll = 3 - slope ln t for t = 1 .. n, with noise of alternating sign.
std::vector<double> falling(size_t n, double slope, double noise) {
  std::vector<double> nll;
  for (size_t t = 1; t <= n; ++t)
    nll.push_back(3 - slope * std::log(static_cast<double>(t)) + (t % 2 ? noise : -noise));
  return nll;
}

BOOST_AUTO_TEST_CASE(a_curve_that_still_falls_has_its_whole_interval_below_zero) {
  const LateTrend got = late_trend(falling(1000, 0.2, 0.01));
  BOOST_TEST(got.is_falling);
  BOOST_TEST(got.fit.slope == -0.2, tolerance(0.02));
  BOOST_TEST(got.slope.low < got.fit.slope);
  BOOST_TEST(got.slope.high > got.fit.slope);
  BOOST_TEST(got.fit.n == 500);
  BOOST_TEST(!late_trend(falling(1000, -0.2, 0.01)).is_falling);
}

BOOST_AUTO_TEST_CASE(noise_as_large_as_the_trend_does_not_fall) {
  const LateTrend got = late_trend(falling(20, 0.01, 0.5));
  BOOST_TEST(!got.is_falling);
  BOOST_TEST(got.slope.low < 0);
  BOOST_TEST(got.slope.high > 0);
}

BOOST_AUTO_TEST_CASE(only_the_last_half_counts) {
  std::vector<double> nll = falling(400, 0.3, 0.01);  // falls, then stays
  for (size_t i = 200; i < 400; ++i) nll[i] = nll[199] + (i % 2 ? 0.01 : -0.01);
  BOOST_TEST(!late_trend(nll).is_falling);
  BOOST_TEST(late_trend(nll).fit.n == 200);
  BOOST_TEST(late_trend(std::vector<double>{9, 9, 2, 1, 0.5}).fit.n == 2);  // t = 4 and 5
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const std::vector<std::vector<double>> none, empty{{}, {}}, bad{{1, 2}, {1, NAN}};
  BOOST_CHECK_EXCEPTION(position_curve(none), ConfigError,
                        says("[eval:position-wise] bad_argument: expected scored sequences"));
  BOOST_CHECK_EXCEPTION(position_curve(empty), ConfigError, says("got 2 without a position"));
  BOOST_CHECK_EXCEPTION(
      position_curve(bad), Error,
      says("[eval:position-wise] nonfinite_logits: ", "sequence 1 at position 2"));
  BOOST_CHECK_EXCEPTION(smoothed(bad[0], -1), ConfigError, says("bad_argument: "));
  const std::vector<double> hundred(100, 1.0);
  for (const int64_t q : {-1, 0, 7, 93, 100, 1000})
    BOOST_CHECK_EXCEPTION(perplexity_at(hundred, q), ConfigError, says("bad_argument: expected"));
  BOOST_TEST(perplexity_at(hundred, 8) == perplexity_at(hundred, 92));
  BOOST_CHECK_EXCEPTION(perplexity_at(hundred, 93), ConfigError,
                        says("positions 86 to 101 for the perplexity at 93, got 1 to 100"));
  BOOST_CHECK_EXCEPTION(late_trend(std::vector<double>{1, 2, 3}), ConfigError,
                        says("expected at least 4 positions for a trend, got 3"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
