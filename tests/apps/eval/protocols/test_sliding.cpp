#include <boost/test/unit_test.hpp>
#include <map>

#include "apps/eval/protocols/non_overlapping.h"
#include "apps/eval/protocols/sliding.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_sliding)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {

CommonOptions at(std::vector<int64_t> lengths) {
  CommonOptions common;
  common.lengths = std::move(lengths);
  return common;
}

LengthResult measured(const Scorer& model, const TokenStream& text, const CommonOptions& common,
                      std::optional<int64_t> stride) {
  const SlidingOptions own{stride};
  check_common("sliding", common);
  check(own);
  return sliding(subject(model, text), common, own).lengths.at(0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_target_is_scored_once_with_the_context_of_its_window) {
  // Token i of the text is i, so a target says where it stands.
  TokenStream text;
  text.size = 60;
  text.copy = [](int64_t begin, int64_t n, int32_t* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<int32_t>(begin + i);
  };
  for (const int64_t stride : {1, 3, 4, 7, 16}) {
    for (const int64_t batch_tokens : {1, 40, 100000}) {
      std::map<int32_t, int64_t> context;  // of each target
      Scorer model = model_of([&](const int32_t* row, int64_t t, int32_t target) {
        BOOST_TEST(row[t] + 1 == target);
        BOOST_TEST(context.count(target) == 0u);
        context[target] = t + 1;
        return 1.0;
      });
      model.vocab_size = 60;
      CommonOptions common = at({16});
      common.batch_tokens = batch_tokens;
      const LengthResult got = measured(model, text, common, stride);
      BOOST_TEST(got.n_scored == 59);
      BOOST_TEST(context.size() == 59u);
      // Window k covers targets k stride + 1 .. k stride + 16; the last one ends with the text.
      for (const auto& [target, n] : context) {
        int64_t begin = 0;
        while (target > begin + 16) begin = std::min(begin + stride, int64_t{60 - 1 - 16});
        BOOST_TEST(n == target - begin);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(only_what_a_window_adds_is_asked_for) {
  std::vector<std::pair<size_t, size_t>> asked;  // ids and targets
  Scorer model = uniform_model();
  model.score = [&](const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t) {
    asked.emplace_back(ids.size(), targets.size());
    return std::vector<double>(targets.size(), 1.0);
  };
  CommonOptions common = at({16});
  common.batch_tokens = 32;
  const LengthResult got = measured(model, toy_text(1 + 16 + 3 * 4 + 2), common, 4);
  const std::vector<std::pair<size_t, size_t>> want = {{16, 16}, {32, 8}, {16, 4}, {16, 2}};
  BOOST_TEST((asked == want));
  BOOST_TEST(got.n_scored == 30);
}

BOOST_AUTO_TEST_CASE(a_stride_of_the_length_is_non_overlapping) {
  const TokenStream text = toy_text(5 * 16 + 1);
  const Scorer model = windowed_model(7);
  const LengthResult got = measured(model, text, at({16}), 16);
  const LengthResult want =
      non_overlapping(subject(model, text), at({16}), NonOverlappingOptions{}).lengths.at(0);
  BOOST_TEST(got.mean_nll == want.mean_nll, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(got.n_scored == want.n_scored);
  BOOST_TEST(got.tokens == want.tokens);
  BOOST_TEST(got.items.size() == want.items.size());
  for (size_t i = 0; i < got.items.size(); ++i)
    BOOST_TEST(got.items[i] == want.items[i], boost::test_tools::tolerance(1e-14));
  BOOST_TEST(got.nll_error == want.nll_error, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(items_are_stretches_of_the_length_whatever_the_stride) {
  // nll is the target itself, so items can be added up from the text.
  const TokenStream text = toy_text(45);
  std::vector<int32_t> tokens(45);
  text.copy(0, 45, tokens.data());
  for (const int64_t stride : {1, 3, 16}) {
    const LengthResult got = measured(target_model(), text, at({16}), stride);
    double total = 0;
    BOOST_TEST_REQUIRE(got.items.size() == 3u);  // 16, 16 and 12 targets
    for (int64_t item = 0; item < 3; ++item) {
      double sum = 0;
      const int64_t end = std::min<int64_t>(45, 16 * item + 17);
      for (int64_t i = 16 * item + 1; i < end; ++i) sum += tokens[static_cast<size_t>(i)];
      BOOST_TEST(
          got.items[static_cast<size_t>(item)] == sum / static_cast<double>(end - 16 * item - 1),
          boost::test_tools::tolerance(1e-14));
      total += sum;
    }
    BOOST_TEST(got.mean_nll == total / 44, boost::test_tools::tolerance(1e-14));
  }
}

BOOST_AUTO_TEST_CASE(a_smaller_stride_never_hurts_a_model_that_gains_from_context) {
  const Scorer model = model_of([](const int32_t*, int64_t t, int32_t) { return 1.0 / (1.0 + t); });
  double before = 10;
  for (const int64_t stride : {32, 16, 8, 3, 1}) {
    const double now = measured(model, toy_text(500), at({32}), stride).mean_nll;
    BOOST_TEST(now < before);
    before = now;
  }
  // With stride 1 all targets but those of the first window have 32 tokens of context.
  double first = 0;
  for (int t = 1; t <= 32; ++t) first += 1.0 / t;
  BOOST_TEST(before == (first + (499 - 32) / 32.0) / 499, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(the_default_stride_is_a_quarter_of_each_length) {
  const ProtocolResult got = sliding(subject(uniform_model(), toy_text(300)), at({2, 64}), {});
  BOOST_TEST(got.parameters == "stride=L/4 tokens=300");
  BOOST_TEST(got.lengths[0].quantities.at(0).name == "stride");
  BOOST_TEST(got.lengths[0].quantities.at(0).value == 1);
  BOOST_TEST(got.lengths[1].quantities.at(0).value == 16);
  BOOST_TEST(got.lengths[1].perplexity() == kToyVocab, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_limit_reads_only_the_beginning_of_the_text) {
  CommonOptions common = at({8});
  common.max_tokens = 50;
  BOOST_TEST(measured(uniform_model(), toy_text(300), common, 3).n_scored == 49);
  BOOST_TEST(sliding(subject(uniform_model(), toy_text(300)), common, {3}).parameters ==
             "stride=3 tokens=50");
  common.max_tokens = -1;
  BOOST_CHECK_EXCEPTION(measured(uniform_model(), toy_text(300), common, 3), ConfigError,
                        says("[eval:sliding] bad_argument: expected max-tokens >= 0, got -1"));
}

BOOST_AUTO_TEST_CASE(bad_requests_begin_with_their_code) {
  const auto run = [](int64_t length, int64_t stride) {
    return measured(uniform_model(), toy_text(100), at({length}), stride);
  };
  BOOST_CHECK_EXCEPTION(run(1, 1), ConfigError, says("[eval:sliding] length_too_short: "));
  BOOST_CHECK_EXCEPTION(run(8, 0), ConfigError,
                        says("[eval:sliding] bad_argument: expected stride >= 1, got 0"));
  BOOST_CHECK_EXCEPTION(run(8, 9), ConfigError,
                        says("[eval:sliding] bad_stride: expected a stride of at most the length 8,"
                             " or targets are left out, got 9"));
  BOOST_CHECK_EXCEPTION(run(100, 4), IoError,
                        says("[eval:sliding] not_enough_data: expected at least 101 tokens for one "
                             "window of 100, got 100"));
  BOOST_TEST(run(99, 4).n_scored == 99);
  TokenStream text = toy_text(100);
  text.copy = [](int64_t, int64_t n, int32_t* out) { std::fill(out, out + n, kToyVocab); };
  BOOST_CHECK_EXCEPTION(measured(uniform_model(), text, at({8}), 4), IoError,
                        says("[eval:sliding] bad_token: "));
}

BOOST_AUTO_TEST_CASE(a_cell_that_fails_does_not_end_the_table) {
  const ProtocolResult got =
      sliding(subject(failing_model(), toy_text(961)), at({4, 20, 40, 100}), {});
  BOOST_TEST(got.lengths[0].failure == "");
  BOOST_TEST(got.lengths[1].failure == "nonfinite_logits");
  BOOST_TEST(got.lengths[1].message.find("the window from token 0") != std::string::npos);
  BOOST_TEST(got.lengths[2].failure == "position_out_of_range");
  BOOST_TEST(got.lengths[3].failure == "OOM");
  BOOST_TEST(got.lengths[3].message == "[eval:sliding] OOM: length 100");
  BOOST_TEST(std::isnan(got.lengths[3].mean_nll));
}

BOOST_AUTO_TEST_SUITE_END()
