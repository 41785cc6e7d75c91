#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/protocols/non_overlapping.h"
#include "apps/eval/protocols/position_wise.h"
#include "apps/eval/truncated.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_position_wise)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;
using boost::test_tools::tolerance;

namespace {

struct Asked {
  CommonOptions common;
  PositionWiseOptions own;
};

Asked options(std::vector<int64_t> lengths, int64_t sequences) {
  Asked asked;
  asked.common.lengths = std::move(lengths);
  asked.own.sequences = sequences;
  return asked;
}

LengthResult measured(const Scorer& model, const TokenStream& text, const Asked& asked,
                      int64_t train_len = 0) {
  Subject s = subject(model, text);
  s.model.train_len = train_len;
  check_common("position-wise", asked.common);
  check(asked.own);
  return position_wise(s, asked.common, asked.own).lengths.at(0);
}

double quantity(const LengthResult& cell, const std::string& name) {
  for (const Quantity& q : cell.quantities)
    if (q.name == name) return q.value;
  return std::nan("");
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_mean_over_the_curve_is_non_overlapping_on_the_same_sequences) {
  const TokenStream text = toy_text(700);
  Asked o = options({16, 50}, 9);
  for (const int64_t batch_tokens : {1, 70, 100000}) {
    o.common.batch_tokens = batch_tokens;
    const Subject s = subject(windowed_model(20), text);
    const ProtocolResult got = position_wise(s, o.common, o.own);
    NonOverlappingOptions chunks;
    chunks.budget = "same-chunks";
    chunks.chunks = 9;
    const ProtocolResult want = non_overlapping(s, o.common, chunks);
    for (size_t i = 0; i < 2; ++i) {
      const LengthResult &a = got.lengths[i], &b = want.lengths[i];
      double sum = 0;  // the same from the curve as it is stored
      for (const double perplexity : a.series.at(0).y) sum += std::log(perplexity);
      BOOST_TEST(sum / static_cast<double>(a.length) == b.mean_nll, tolerance(1e-12));
      BOOST_TEST(a.mean_nll == b.mean_nll, tolerance(1e-13));
      BOOST_TEST(a.n_scored == b.n_scored);
      BOOST_TEST(a.tokens == b.tokens);
      BOOST_TEST(a.items.size() == b.items.size());
      for (size_t item = 0; item < a.items.size(); ++item)
        BOOST_TEST(a.items[item] == b.items[item], tolerance(1e-13));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_picture_keeps_the_steep_beginning_that_smoothing_in_tokens_flattens) {
  const Scorer falling = model_of([](const int32_t*, int64_t t, int32_t target) {
    return 1 + 2.0 / static_cast<double>(t + 1) + 0.01 * target;
  });
  const LengthResult got = measured(falling, toy_text(4001), options({1000}, 4));
  BOOST_TEST_REQUIRE(got.series.size() == 3u);
  const Series &raw = got.series[0], &smooth = got.series[1], &picture = got.series[2];
  BOOST_TEST(!raw.is_drawn_alone);
  BOOST_TEST(!smooth.is_drawn_alone);
  BOOST_TEST(picture.is_drawn_alone);
  BOOST_TEST(picture.name == smooth.name);
  BOOST_TEST(picture.axis == "position (tokens); nll averaged over positions within 15 %");
  BOOST_TEST(raw.y[0] > 18);
  BOOST_TEST(smooth.y[0] < 7);  // protocols.md, section 4: as it was
  BOOST_TEST(picture.y[0] == raw.y[0], tolerance(1e-12));
  BOOST_TEST(picture.x[0] == 1);
  BOOST_TEST(picture.x.back() == 1000);
  BOOST_TEST(picture.x.size() < 150u);
  const auto at =
      static_cast<size_t>(std::find(picture.x.begin(), picture.x.end(), 512) - picture.x.begin());
  double sum = 0;
  for (size_t t = 446; t <= 588; ++t) sum += std::log(raw.y[t - 1]);  // 512 / 1.15 to 512 * 1.15
  BOOST_TEST(picture.y.at(at) == std::exp(sum / 143), tolerance(1e-10));
  BOOST_TEST_REQUIRE(picture.low.size() == picture.x.size());
  BOOST_TEST(picture.low[at] < picture.y[at]);
  BOOST_TEST(picture.high[at] < raw.high[511]);
}

BOOST_AUTO_TEST_CASE(each_position_averages_its_nll_over_the_sequences) {
  // nll = the target itself: by hand from the text.
  const TokenStream text = toy_text(31);
  std::vector<int32_t> tokens(31);
  text.copy(0, 31, tokens.data());
  const LengthResult got = measured(target_model(), text, options({10}, 3));
  BOOST_TEST_REQUIRE(got.series.size() == 3u);
  const Series& raw = got.series[0];
  BOOST_TEST(raw.name == "perplexity");
  BOOST_TEST(raw.axis == "position (tokens)");
  BOOST_TEST(raw.x.size() == 10u);
  for (size_t t = 0; t < 10; ++t) {
    const double a = tokens[t + 1], b = tokens[t + 11], c = tokens[t + 21], m = (a + b + c) / 3;
    const double deviation =
        std::sqrt(((a - m) * (a - m) + (b - m) * (b - m) + (c - m) * (c - m)) / 2);
    const double half = 4.302652729911275 * deviation / std::sqrt(3.0);  // t of two degrees
    BOOST_TEST(raw.x[t] == static_cast<double>(t + 1));
    BOOST_TEST(raw.y[t] == std::exp(m), tolerance(1e-12));
    BOOST_TEST(raw.low[t] == std::exp(m - half), tolerance(1e-8));
    BOOST_TEST(raw.high[t] == std::exp(m + half), tolerance(1e-8));
  }
}

BOOST_AUTO_TEST_CASE(the_smoothed_curve_averages_nll_and_its_band_is_narrower) {
  const TokenStream text = toy_text(2001);
  Asked o = options({100}, 20);
  o.own.smoothing = 5;
  const LengthResult got = measured(target_model(), text, o);
  const Series &raw = got.series[0], &smooth = got.series[1];
  BOOST_TEST(smooth.name == "smoothed perplexity");
  for (const size_t t : {0u, 3u, 50u, 99u}) {
    double sum = 0, n = 0;
    for (size_t i = t > 5 ? t - 5 : 0; i <= std::min<size_t>(99, t + 5); ++i, ++n)
      sum += std::log(raw.y[i]);
    BOOST_TEST(smooth.y[t] == std::exp(sum / n), tolerance(1e-10));
  }
  // Eleven independent positions: the error falls about as the root of their number.
  const auto width = [](const Series& s) { return std::log(s.high[50] / s.low[50]); };
  BOOST_TEST(width(smooth) < 0.6 * width(raw));
  BOOST_TEST(width(smooth) > 0.1 * width(raw));
}

BOOST_AUTO_TEST_CASE(perplexity_at_a_place_is_over_sixteen_positions) {
  const Scorer model = model_of(
      [](const int32_t*, int64_t t, int32_t) { return 0.01 * static_cast<double>(t + 1); });
  const LengthResult got = measured(model, toy_text(500), options({64}, 3), 32);
  BOOST_TEST(quantity(got, "perplexity@32") == std::exp(0.325), tolerance(1e-12));    // 25 .. 40
  BOOST_TEST(quantity(got, "perplexity@last") == std::exp(0.565), tolerance(1e-12));  // 49 .. 64
  BOOST_TEST(quantity(got, "scored_tokens@32") == 3 * 16);
  BOOST_TEST(quantity(got, "scored_tokens@last") == 3 * 16);
  BOOST_TEST(std::isnan(quantity(got, "bits_per_byte@32")));
  TokenStream text = toy_text(500);
  text.count_bytes = [](int64_t, int64_t n) { return 5 * n / 2; };
  const LengthResult sized = measured(model, text, options({64}, 3), 32);
  BOOST_TEST(quantity(sized, "bits_per_byte@32") == 0.325 / std::log(2.0) / 2.5, tolerance(1e-12));
  BOOST_TEST(quantity(sized, "bits_per_byte@last") == 0.565 / std::log(2.0) / 2.5,
             tolerance(1e-12));
  // Positions that do not exist are not made up.
  BOOST_TEST(
      std::isnan(quantity(measured(model, toy_text(500), options({39}, 3), 32), "perplexity@32")));
  BOOST_TEST(quantity(measured(model, toy_text(500), options({40}, 3), 32), "perplexity@32") ==
                 std::exp(0.325),
             tolerance(1e-12));
  BOOST_TEST(
      std::isnan(quantity(measured(model, toy_text(500), options({15}, 3)), "perplexity@last")));
}

BOOST_AUTO_TEST_CASE(a_curve_that_falls_with_log_t_is_said_to_fall) {
  const auto with_slope = [](double slope) {
    return model_of([slope](const int32_t* row, int64_t t, int32_t) {
      return 3 + slope * std::log(static_cast<double>(t + 1)) + 1e-3 * row[t];
    });
  };
  const LengthResult falls = measured(with_slope(-0.5), toy_text(3000), options({200}, 10));
  BOOST_TEST(quantity(falls, "late_slope") == -0.5, tolerance(2e-2));
  BOOST_TEST(quantity(falls, "late_slope_low") < -0.5 + 1e-2);
  BOOST_TEST(quantity(falls, "late_slope_high") > quantity(falls, "late_slope_low"));
  BOOST_TEST(quantity(falls, "still_falling") == 1);
  BOOST_TEST(
      quantity(measured(with_slope(0), toy_text(3000), options({200}, 10)), "still_falling") == 0);
  BOOST_TEST(quantity(measured(with_slope(0.5), toy_text(3000), options({200}, 10)),
                      "still_falling") == 0);
}

BOOST_AUTO_TEST_CASE(one_sequence_has_a_curve_without_a_band) {
  const LengthResult got = measured(target_model(), toy_text(100), options({20}, 1));
  BOOST_TEST(got.series[0].y.size() == 20u);
  BOOST_TEST(got.series[0].low.empty());
  BOOST_TEST(got.series[1].high.empty());
  BOOST_TEST(std::isnan(got.nll_error));
}

BOOST_AUTO_TEST_CASE(of_a_truncated_model_every_so_many_positions_can_be_measured) {
  const Scorer model = windowed_model(20);
  Subject s = subject(truncated(model, 4, 100), toy_text(400));
  Asked o = options({36}, 5);
  o.own.truncated_every = 3;
  s.model.baseline = parse_baseline("truncated@4");
  const ProtocolResult some = position_wise(s, o.common, o.own);
  BOOST_TEST(some.parameters == "sequences=5 smoothing=32 every=3");
  o.own.truncated_every = 1;
  const ProtocolResult all = position_wise(s, o.common, o.own);
  BOOST_TEST(all.parameters == "sequences=5 smoothing=32");
  const LengthResult &a = some.lengths[0], &b = all.lengths[0];
  BOOST_TEST_REQUIRE(a.series[0].y.size() == 12u);
  for (size_t i = 0; i < 12; ++i) {
    BOOST_TEST(a.series[0].x[i] == static_cast<double>(3 * i + 3));
    BOOST_TEST(a.series[0].y[i] == b.series[0].y[3 * i + 2], tolerance(1e-13));
    BOOST_TEST(a.series[0].high[i] == b.series[0].high[3 * i + 2], tolerance(1e-12));
  }
  BOOST_TEST(a.n_scored == 60);
  BOOST_TEST(a.tokens != b.tokens);
  BOOST_TEST(quantity(a, "positions") == 12);
  BOOST_TEST(std::abs(quantity(a, "late_slope") - quantity(b, "late_slope")) < 2);
  // Any other model is measured everywhere.
  s.model.baseline = parse_baseline("masked@4");
  o.own.truncated_every = 3;
  BOOST_TEST(position_wise(s, o.common, o.own).lengths[0].series[0].y.size() == 36u);
}

BOOST_AUTO_TEST_CASE(bad_requests_begin_with_their_code) {
  const TokenStream text = toy_text(100);
  const auto run = [&](const Asked& o) { return measured(uniform_model(), text, o); };
  BOOST_CHECK_EXCEPTION(run(options({1}, 2)), ConfigError,
                        says("[eval:position-wise] length_too_short: "));
  BOOST_CHECK_EXCEPTION(run(options({8}, 0)), ConfigError,
                        says("[eval:position-wise] bad_argument: expected sequences >= 1, got 0"));
  BOOST_CHECK_EXCEPTION(run(options({100}, 1)), IoError,
                        says("[eval:position-wise] not_enough_data: expected at least 101 tokens "
                             "for one sequence of 100, got 100"));
  Asked o = options({30}, 4);
  BOOST_CHECK_EXCEPTION(run(o), IoError,
                        says("[eval:position-wise] not_enough_data: expected 4 sequences of 30 "
                             "tokens, got 3; --allow-fewer takes those"));
  o.common.allow_fewer = true;
  BOOST_TEST(run(o).n_scored == 90);
  o.common.lengths = {20, 30};
  BOOST_TEST(position_wise(subject(uniform_model(), text), o.common, o.own).parameters ==
             "sequences=4 (3 at 30) smoothing=32");
  o.common.lengths = {30};
  BOOST_TEST(position_wise(subject(uniform_model(), text), o.common, o.own).parameters ==
             "sequences=3 smoothing=32");
  o.own.smoothing = -1;
  BOOST_CHECK_EXCEPTION(run(o), ConfigError,
                        says("[eval:position-wise] bad_argument: expected smoothing >= 0"));
  o = options({8}, 2);
  o.own.truncated_every = 0;
  BOOST_CHECK_EXCEPTION(run(o), ConfigError,
                        says("[eval:position-wise] bad_argument: expected truncated-every >= 1"));
}

BOOST_AUTO_TEST_CASE(a_cell_that_fails_does_not_end_the_table) {
  const Asked o = options({4, 20, 40, 100}, 3);
  const ProtocolResult got =
      position_wise(subject(failing_model(), toy_text(961)), o.common, o.own);
  BOOST_TEST(got.lengths[0].failure == "");
  BOOST_TEST(got.lengths[1].failure == "nonfinite_logits");
  BOOST_TEST(got.lengths[1].message.find("sequence 0 (from token 0) at position 15") !=
             std::string::npos);
  BOOST_TEST(got.lengths[1].series.empty());
  BOOST_TEST(got.lengths[2].failure == "position_out_of_range");
  BOOST_TEST(got.lengths[3].failure == "OOM");
  BOOST_TEST(got.lengths[3].message == "[eval:position-wise] OOM: length 100");
  BOOST_TEST(got.lengths[3].series.empty());
}

BOOST_AUTO_TEST_SUITE_END()
