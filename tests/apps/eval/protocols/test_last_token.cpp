#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "apps/eval/protocols/last_token.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_last_token)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {
struct Asked {
  CommonOptions common;
  LastTokenOptions own;
};

Asked options(std::vector<int64_t> lengths, int64_t n = 20) {
  Asked asked;
  asked.common.lengths = std::move(lengths);
  asked.own.segments = n;
  return asked;
}

ProtocolResult last_token(const Scorer& model, const TokenStream& text, const Asked& asked) {
  return eval::last_token(subject(model, text), asked.common, asked.own);
}

std::vector<int64_t> draw_segments(int64_t size, int64_t span, int64_t n, uint64_t seed,
                                   bool allow_fewer) {
  return eval::draw_segments("last-token", toy_text(size), span, n, seed, allow_fewer);
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_uniform_model_gives_the_vocabulary_size) {
  const ProtocolResult got = last_token(uniform_model(), toy_text(5000), options({2, 16, 64}));
  for (const LengthResult& cell : got.lengths) {
    BOOST_TEST(cell.perplexity() == kToyVocab, boost::test_tools::tolerance(1e-12));
    BOOST_TEST(cell.n_scored == 20);
    BOOST_TEST(cell.nll_error < 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(the_same_tokens_are_predicted_at_every_length) {
  // nll = the target itself, so equal items mean equal targets
  const ProtocolResult got = last_token(target_model(), toy_text(5000), options({2, 7, 64}));
  BOOST_TEST(got.lengths[0].items == got.lengths[2].items, boost::test_tools::per_element());
  const TokenStream text = toy_text(5000);
  for (size_t i = 0; i < got.starts.size(); ++i) {
    int32_t last = 0;
    text.copy(got.starts[i] + 63, 1, &last);
    BOOST_TEST(got.lengths[1].items[i] == last);
  }
}

BOOST_AUTO_TEST_CASE(the_context_is_the_tokens_just_before) {
  for (const bool full : {false, true}) {
    Asked o = options({2, 9});
    o.own.context = full ? "L" : "L-1";
    std::vector<int64_t> lengths;
    Scorer model = uniform_model();
    const TokenStream text = toy_text(5000);
    size_t item = 0;
    const int64_t span = full ? 10 : 9;
    std::vector<int64_t> starts = draw_segments(text.size, span, o.own.segments, 5, false);
    model.score = [&](const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t batch) {
      const auto n = static_cast<int64_t>(ids.size()) / batch;
      lengths.push_back(n);
      for (int64_t b = 0; b < batch; ++b) {
        std::vector<int32_t> want(static_cast<size_t>(n + 1));
        text.copy(starts[item++ % starts.size()] + span - n - 1, n + 1, want.data());
        BOOST_CHECK(std::equal(want.begin(), want.end() - 1, ids.begin() + b * n));
        BOOST_CHECK(want.back() == targets[static_cast<size_t>(b)]);
      }
      return std::vector<double>(static_cast<size_t>(batch), 1.0);
    };
    last_token(model, text, o);
    BOOST_TEST(lengths == (full ? std::vector<int64_t>{2, 9} : std::vector<int64_t>{1, 8}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_windowed_model_is_flat_beyond_its_reach) {
  const ProtocolResult got = last_token(windowed_model(4), toy_text(5000), options({3, 5, 6, 64}));
  BOOST_TEST(got.lengths[1].items == got.lengths[3].items, boost::test_tools::per_element());
  BOOST_TEST(got.lengths[2].items == got.lengths[3].items, boost::test_tools::per_element());
  BOOST_TEST(got.lengths[0].items != got.lengths[3].items);
}

BOOST_AUTO_TEST_CASE(batches_of_any_size_give_the_same_items) {
  Asked o = options({32});
  const ProtocolResult whole = last_token(windowed_model(4), toy_text(5000), o);
  o.common.batch_tokens = 1;
  const ProtocolResult single = last_token(windowed_model(4), toy_text(5000), o);
  BOOST_TEST(whole.lengths[0].items == single.lengths[0].items, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(segments_are_different_slots_when_there_are_enough) {
  const std::vector<int64_t> starts = draw_segments(1005, 10, 100, 3, false);
  BOOST_TEST(std::set<int64_t>(starts.begin(), starts.end()).size() == 100u);
  for (const int64_t start : starts) BOOST_TEST(start % 10 == 0);
  BOOST_TEST(!std::is_sorted(starts.begin(), starts.end()));
}

BOOST_AUTO_TEST_CASE(segments_overlap_but_never_repeat_when_there_are_few_slots) {
  const std::vector<int64_t> starts = draw_segments(109, 10, 100, 3, false);
  BOOST_TEST(std::set<int64_t>(starts.begin(), starts.end()).size() == 100u);
  BOOST_TEST(*std::max_element(starts.begin(), starts.end()) == 99);
}

BOOST_AUTO_TEST_CASE(the_seed_alone_decides_the_segments) {
  BOOST_CHECK(draw_segments(5000, 10, 50, 1, false) == draw_segments(5000, 10, 50, 1, false));
  BOOST_CHECK(draw_segments(5000, 10, 50, 1, false) != draw_segments(5000, 10, 50, 2, false));
}

BOOST_AUTO_TEST_CASE(too_little_text_is_refused_unless_fewer_are_allowed) {
  BOOST_CHECK_EXCEPTION(draw_segments(50, 10, 100, 1, false), IoError,
                        says("[eval:last-token] not_enough_data: expected 100 segments of 10 "
                             "tokens, got 41 in 50 tokens"));
  BOOST_TEST(draw_segments(50, 10, 100, 1, true).size() == 41u);
  BOOST_CHECK_EXCEPTION(draw_segments(9, 10, 1, 1, true), IoError,
                        says("[eval:last-token] not_enough_data: expected at least 10 tokens"));
}

BOOST_AUTO_TEST_CASE(bad_requests_begin_with_their_code) {
  const auto run = [](const Asked& o, const TokenStream& text) {
    check_common("last-token", o.common);
    check(o.own);
    return last_token(uniform_model(), text, o);
  };
  BOOST_CHECK_EXCEPTION(run(options({1}), toy_text(500)), ConfigError,
                        says("[eval:last-token] length_too_short: "));
  BOOST_CHECK_EXCEPTION(run(options({}), toy_text(500)), ConfigError,
                        says("[eval:last-token] bad_argument: "));
  BOOST_CHECK_EXCEPTION(run(options({4}, 0), toy_text(500)), ConfigError,
                        says("[eval:last-token] bad_argument: expected segments >= 1, got 0"));
  TokenStream bad = toy_text(500);
  bad.copy = [](int64_t begin, int64_t n, int32_t* out) {
    for (int64_t i = 0; i < n; ++i) out[i] = begin + i == 77 ? kToyVocab : 0;
  };
  BOOST_CHECK_EXCEPTION(run(options({4}, 125), bad), IoError,
                        says("[eval:last-token] bad_token: expected ids below 11, got 11 at token "
                             "77"));
}

BOOST_AUTO_TEST_CASE(a_cell_that_fails_does_not_end_the_table) {
  const ProtocolResult got = last_token(failing_model(), toy_text(5000), options({8, 16, 32, 64}));
  BOOST_TEST(got.lengths[0].failure == "");
  BOOST_TEST(got.lengths[1].failure == "nonfinite_logits");
  BOOST_TEST(got.lengths[1].message.find("[eval:last-token] nonfinite_logits: expected finite "
                                         "scores for segment 0 (tokens ") == 0u);
  BOOST_TEST(std::isnan(got.lengths[1].perplexity()));
  BOOST_TEST(got.lengths[2].failure == "position_out_of_range");
  BOOST_TEST(got.lengths[2].message ==
             "[eval:last-token] position_out_of_range: posenc:toy: too long");
  BOOST_TEST(got.lengths[3].failure == "OOM");
}

BOOST_AUTO_TEST_CASE(perplexity_beyond_e700_is_infinite_and_its_nll_is_kept) {
  Scorer model = uniform_model();
  model.score = [](const Scorer::Ids&, const Scorer::Ids&, int64_t batch) {
    return std::vector<double>(static_cast<size_t>(batch), 701.0);
  };
  const ProtocolResult got = last_token(model, toy_text(5000), options({8}));
  BOOST_TEST(got.lengths[0].perplexity() == INFINITY);
  BOOST_TEST(got.lengths[0].mean_nll == 701);
}

BOOST_AUTO_TEST_CASE(the_standard_error_is_that_of_the_mean) {
  Scorer model = uniform_model();
  model.score = [](const Scorer::Ids&, const Scorer::Ids&, int64_t) {
    return std::vector<double>{1, 2, 3, 4};
  };
  const ProtocolResult got = last_token(model, toy_text(5000), options({8}, 4));
  BOOST_TEST(got.lengths[0].mean_nll == 2.5);
  BOOST_TEST(got.lengths[0].nll_error == std::sqrt(5.0 / 3 / 4),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_SUITE_END()
