#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <new>
#include <span>

#include "apps/eval/protocols/gradient.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/results.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/small_model.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_gradient)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {

struct Asked {
  CommonOptions common;
  GradientOptions own;
};

Asked options(std::vector<int64_t> lengths, int64_t segments = 6) {
  Asked asked;
  asked.common.lengths = std::move(lengths);
  asked.own.segments = segments;
  return asked;
}

ProtocolResult measure(const SmallModel& small, const Asked& asked) {
  check_common("gradient", asked.common);
  check(asked.own);
  return gradient(small.subject(), asked.common, asked.own);
}

const std::vector<double>& shares(const LengthResult& cell) { return cell.series.at(0).y; }

// Multiplies, or fills with NaN, what turns the last hidden state into scores.
void scale_head(const SmallModel& small, double factor) {
  for (Parameter p : small.model.parameters()) {
    if (p.name.find("embed_out") == std::string::npos) continue;
    double* const x = p.value.data<double>();
    for (int64_t i = 0; i < p.value.numel(); ++i) x[i] *= factor;
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(shares_are_the_mean_over_segments_of_normalised_lengths) {
  const SmallModel small("kerple_log");
  const Asked o = options({7, 30});
  const ProtocolResult got = measure(small, o);
  for (const LengthResult& cell : got.lengths) {
    const int64_t n = cell.length - 1;
    std::vector<double> mean(static_cast<size_t>(n));
    for (const int64_t start : got.starts) {
      std::vector<int32_t> ids(static_cast<size_t>(cell.length));
      small.text.copy(start + 30 - cell.length, cell.length, ids.data());
      const std::vector<int32_t> target{ids.back()};
      ids.pop_back();
      const std::vector<double> g =
          small.model.input_gradient(Tensor::from(ids, {1, n}), Tensor::from(target, {1}))
              .to_vector();
      std::vector<double> norms;
      double total = 0;
      for (size_t t = 0; t < mean.size(); ++t) {
        double squares = 0;
        for (size_t i = 0; i < 8; ++i) squares += g[t * 8 + i] * g[t * 8 + i];
        norms.push_back(std::sqrt(squares));
        total += norms.back();
      }
      for (size_t t = 0; t < mean.size(); ++t) mean[t] += norms[t] / total / 6;
    }
    double recent = 0;
    int64_t field = 0;
    while (field < n && !(recent > 0.99)) recent += mean[static_cast<size_t>(n - ++field)];
    BOOST_TEST(value_of(cell, "erf") == static_cast<double>(field));
    BOOST_TEST(value_of(cell, "erf_rounded") == std::ceil(static_cast<double>(field) / 4) * 4);
    BOOST_TEST(cell.series.at(0).name == "normalised gradient");
    BOOST_TEST(cell.series.at(1).name == "cumulative gradient");
    double c = 0;
    for (size_t t = mean.size(); t-- > 0;) {
      c += mean[t];
      BOOST_TEST(shares(cell).at(t) == mean[t], boost::test_tools::tolerance(1e-9));
      BOOST_TEST(cell.series[1].y.at(t) == c, boost::test_tools::tolerance(1e-9));
      BOOST_TEST(cell.series[1].x.at(t) == static_cast<double>(t + 1));
    }
    BOOST_TEST(value_of(cell, "recent_share") == (n > 9 ? cell.series[1].y.at(mean.size() - 9) : 1),
               boost::test_tools::tolerance(1e-9));
  }
}

BOOST_AUTO_TEST_CASE(the_segments_are_those_of_last_token) {
  const SmallModel small("alibi");
  const ProtocolResult got = measure(small, options({7, 30}));
  BOOST_TEST(got.starts == draw_segments("x", small.text, 30, 6, 5, false),
             boost::test_tools::per_element());
  BOOST_TEST(got.lengths[0].tokens == got.lengths[1].tokens);
}

BOOST_AUTO_TEST_CASE(a_windowed_model_has_exactly_no_gradient_beyond_its_reach) {
  // (w - 1) R + 1 = 5 inputs
  const ProtocolResult got = measure(SmallModel("alibi + window(3)"), options({3, 20}));
  const LengthResult& cell = got.lengths[1];
  for (size_t t = 0; t < 14; ++t) BOOST_TEST(shares(cell)[t] == 0);
  for (size_t t = 14; t < 19; ++t) BOOST_TEST(shares(cell)[t] > 0);
  BOOST_TEST(value_of(cell, "erf") <= 5);
  BOOST_TEST(value_of(cell, "erf_median") <= 5);
  BOOST_TEST(value_of(cell, "trf_exact") == 5);
  BOOST_TEST(value_of(got.lengths[0], "trf_exact") == 2);
  BOOST_TEST(
      std::isnan(value_of(measure(SmallModel("alibi"), options({20})).lengths[0], "trf_exact")));
}

BOOST_AUTO_TEST_CASE(a_single_input_has_all_of_the_gradient) {
  const LengthResult cell = measure(SmallModel("rope"), options({2})).lengths[0];
  BOOST_TEST(value_of(cell, "erf") == 1);
  BOOST_TEST(value_of(cell, "erf_deviation") == 0);
  BOOST_TEST(shares(cell) == std::vector<double>{1}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_factor_on_the_scalar_changes_nothing) {
  const SmallModel small("sandwich");
  Asked o = options({20});
  for (const char* scalar : {"logit", "top-logit"}) {
    o.own.scalar = scalar;
    const LengthResult before = measure(small, o).lengths[0];
    scale_head(small, 1024);
    const LengthResult after = measure(small, o).lengths[0];
    BOOST_TEST(shares(before) == shares(after), boost::test_tools::per_element());
    scale_head(small, 1.0 / 1024);
  }
}

BOOST_AUTO_TEST_CASE(each_scalar_has_a_gradient_of_its_own) {
  const SmallModel small("alibi");
  Asked o = options({20});
  std::vector<std::vector<double>> all;
  for (const char* scalar : {"nll", "logit", "top-logit", "entropy"}) {
    o.own.scalar = scalar;
    all.push_back(shares(measure(small, o).lengths[0]));
    for (size_t i = 0; i + 1 < all.size(); ++i) BOOST_TEST(all[i] != all.back());
  }
}

BOOST_AUTO_TEST_CASE(batches_of_any_size_give_the_same_shares) {
  const SmallModel small("rope + kerple_log");
  Asked o = options({20});
  const LengthResult whole = measure(small, o).lengths[0];
  o.common.batch_tokens = 1;
  const LengthResult single = measure(small, o).lengths[0];
  BOOST_TEST(shares(whole) == shares(single), boost::test_tools::tolerance(1e-12)
                                                  << boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(out_of_memory_fails_its_cell_unless_smaller_batches_fit) {
  const SmallModel small("alibi");
  const Asked o = options({7, 20, 6});
  const auto with_room_for = [&](int64_t most) {
    Subject subject = small.subject();
    subject.session.watch = [most](int64_t n_tokens) {
      if (n_tokens > most) throw std::bad_alloc();
    };
    return gradient(subject, o.common, o.own);
  };
  const ProtocolResult little = with_room_for(13), enough = with_room_for(40);
  BOOST_TEST(little.lengths[1].failure == "OOM");
  BOOST_TEST(little.lengths[1].message == "[eval:gradient] OOM: length 20");
  BOOST_TEST(little.lengths[1].series.empty());
  const ProtocolResult want = measure(small, o);
  for (const size_t at : {0u, 2u})
    BOOST_TEST(shares(little.lengths[at]) == shares(want.lengths[at]),
               boost::test_tools::tolerance(1e-12) << boost::test_tools::per_element());
  BOOST_TEST(shares(enough.lengths[1]) == shares(want.lengths[1]),
             boost::test_tools::tolerance(1e-12) << boost::test_tools::per_element());
}

// One layer that adds up its tokens: attention without queries weighs all alike, and what it writes
// is so large that the last token's own embedding, which the residual stream adds, is nothing
// beside it. A token's embedding is one vector or its negative, so that the norm before attention
// treats both alike: the prediction depends on how many there are of each.
BOOST_AUTO_TEST_CASE(a_bag_of_embeddings_looks_at_all_inputs_alike) {
  constexpr int64_t kInputs = 150;
  ModelConfig config = tiny_config("none");
  config.n_layer = 1;
  const SmallModel small(config);
  const auto width = static_cast<size_t>(config.d_model);
  const size_t head_width = width / static_cast<size_t>(config.n_head);
  for (Parameter p : small.model.parameters()) {
    const std::span<double> x(p.value.data<double>(), static_cast<size_t>(p.value.numel()));
    const auto is = [&](const char* part) { return p.name.find(part) != std::string::npos; };
    if (p.name.ends_with("bias") || is("dense_4h_to_h"))
      std::fill(x.begin(), x.end(), 0);
    else if (is("norm"))
      std::fill(x.begin(), x.end(), 1);
    else if (is("embed_in"))  // [V, D]
      for (size_t i = width; i < x.size(); ++i) x[i] = i / width < 8 ? x[i % width] : -x[i % width];
    else if (is("query_key_value"))  // [head, (query, key, value), K, D]
      for (size_t i = 0; i < x.size(); ++i) x[i] *= i / width / head_width % 3 == 2 ? 1 : 0;
    else if (is("attention.dense"))
      for (double& value : x) value *= 1e12;
  }
  const LengthResult cell = measure(small, options({kInputs + 1}, 3)).lengths[0];
  BOOST_TEST_REQUIRE(cell.failure == "", cell.message);
  for (const double share : shares(cell))
    BOOST_TEST(share == 1.0 / kInputs, boost::test_tools::tolerance(1e-8));
  BOOST_TEST(value_of(cell, "erf") == 149);  // floor(0.99 * 150) + 1
  BOOST_TEST(value_of(cell, "erf_median") == 149);
}

BOOST_AUTO_TEST_CASE(a_jump_is_looked_for_where_train_len_is_among_the_inputs) {
  const ProtocolResult got = measure(SmallModel("sinusoidal"), options({9, 10}));  // train_len 9
  BOOST_TEST(std::isnan(value_of(got.lengths[0], "jump")));
  BOOST_TEST(value_of(got.lengths[1], "jump") * (value_of(got.lengths[1], "jump") - 1) == 0);
  BOOST_TEST(value_of(got.lengths[1], "jump_peak") >= 1);
  BOOST_TEST(value_of(got.lengths[1], "jump_height") > 0);
}

BOOST_AUTO_TEST_CASE(a_gradient_that_is_zero_or_not_finite_fails_the_cell_and_names_the_segment) {
  const SmallModel small("alibi");
  const auto failed = [&](double factor, const std::string& code) {
    scale_head(small, factor);
    const ProtocolResult got = measure(small, options({7, 20}));
    for (const LengthResult& cell : got.lengths) {
      BOOST_TEST(cell.failure == code);
      BOOST_TEST(cell.quantities.empty());
      BOOST_TEST(cell_text(cell, false) == "nan");
      BOOST_TEST(cell.message.find("[eval:gradient] " + code + ": ") == 0u);
      BOOST_TEST(cell.message.find(concat("; in segment 0 (tokens ", got.starts[0], " to ",
                                          got.starts[0] + 19, ") at length ", cell.length)) !=
                 std::string::npos);
    }
  };
  failed(0, "zero_gradient");
  failed(std::nan(""), "nonfinite_gradient");
}

BOOST_AUTO_TEST_CASE(work_is_told_of_and_can_be_stopped) {
  const SmallModel small("alibi");
  Subject subject = small.subject();
  int64_t n_tokens = 0;
  subject.session.watch = [&](int64_t n) { n_tokens += n; };
  const Asked o = options({7, 20});
  gradient(subject, o.common, o.own);
  BOOST_TEST(n_tokens == 6 * (6 + 19));
  subject.session.watch = [](int64_t) { fail<Error>("test", "stop"); };
  BOOST_CHECK_EXCEPTION(gradient(subject, o.common, o.own), Error, says("stop"));
}

BOOST_AUTO_TEST_CASE(bad_requests_begin_with_their_code) {
  const SmallModel small("alibi");
  const auto refused = [&](const Asked& o, const char* message) {
    BOOST_CHECK_EXCEPTION(measure(small, o), ConfigError, says(message));
  };
  refused(options({1}), "[eval:gradient] length_too_short: ");
  refused(options({4}, 0), "[eval:gradient] bad_argument: expected gradient-segments >= 1, got 0");
  Asked o = options({4});
  o.own.tau = 1;
  refused(o, "[eval:gradient] bad_argument: expected tau between 0 and 1, got 1");
  o = options({4});
  o.own.scalar = "logits";
  refused(o,
          "bad_argument: --scalar: expected one of nll, logit, top-logit, entropy, got 'logits'");
  BOOST_CHECK_EXCEPTION(measure(small, options({4000})), IoError,
                        says("[eval:gradient] not_enough_data: "));
  o = options({4});
  BOOST_CHECK_EXCEPTION(gradient(test::subject(uniform_model(), small.text), o.common, o.own),
                        ConfigError,
                        says("[eval:gradient] bad_argument: expected a model to look inside"));
}

BOOST_AUTO_TEST_SUITE_END()
