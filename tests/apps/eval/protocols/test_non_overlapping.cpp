#include <boost/test/unit_test.hpp>

#include "apps/eval/protocols/non_overlapping.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_non_overlapping)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {
struct Asked {
  CommonOptions common;
  NonOverlappingOptions own;
};

Asked options(std::vector<int64_t> lengths) {
  Asked asked;
  asked.common.lengths = std::move(lengths);
  return asked;
}

ProtocolResult non_overlapping(const Scorer& model, const TokenStream& text, const Asked& asked) {
  check_common("non-overlapping", asked.common);
  check(asked.own);
  return eval::non_overlapping(subject(model, text), asked.common, asked.own);
}
}  // namespace

BOOST_AUTO_TEST_CASE(a_model_without_context_does_not_depend_on_the_length) {
  // 961 tokens: 960 targets, a multiple of every length here
  const ProtocolResult got =
      non_overlapping(target_model(), toy_text(961), options({2, 5, 32, 960}));
  for (const LengthResult& cell : got.lengths) {
    BOOST_TEST(cell.n_scored == 960);
    BOOST_TEST(cell.mean_nll == got.lengths[0].mean_nll, boost::test_tools::tolerance(1e-12));
  }
  BOOST_TEST(got.parameters == "budget=same-text tokens=961 tail=dropped");
}

BOOST_AUTO_TEST_CASE(each_target_is_scored_once_after_the_tokens_of_its_chunk) {
  const TokenStream text = toy_text(100);
  std::vector<int> seen(100);
  Scorer model = uniform_model();
  int64_t next = 0;
  model.score = [&](const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t) {
    for (size_t i = 0; i < ids.size(); ++i, ++next) {
      int32_t pair[2];
      text.copy(next, 2, pair);
      BOOST_CHECK(ids[i] == pair[0] && targets[i] == pair[1]);
      ++seen[static_cast<size_t>(next + 1)];
    }
    return std::vector<double>(ids.size(), 1.0);
  };
  Asked o = options({16});
  o.own.keep_tail = true;
  o.common.batch_tokens = 40;
  const ProtocolResult got = non_overlapping(model, text, o);
  BOOST_TEST(got.lengths[0].n_scored == 99);
  BOOST_TEST(got.lengths[0].items.size() == 7u);  // six chunks of 16 and one of 3
  for (size_t i = 1; i < seen.size(); ++i) BOOST_TEST(seen[i] == 1);
}

BOOST_AUTO_TEST_CASE(the_remainder_is_dropped_unless_kept) {
  BOOST_TEST(non_overlapping(uniform_model(), toy_text(100), options({16})).lengths[0].n_scored ==
             96);
}

BOOST_AUTO_TEST_CASE(a_uniform_model_gives_the_vocabulary_size) {
  BOOST_TEST(
      non_overlapping(uniform_model(), toy_text(300), options({7})).lengths[0].perplexity() ==
          kToyVocab,
      boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_chunk_starts_without_context) {
  // Only the first target of a chunk costs 1, so the mean is 1 / L.
  const Scorer model =
      model_of([](const int32_t*, int64_t t, int32_t) { return t == 0 ? 1.0 : 0.0; });
  const ProtocolResult got = non_overlapping(model, toy_text(961), options({4, 32}));
  BOOST_TEST(got.lengths[0].mean_nll == 0.25);
  BOOST_TEST(got.lengths[1].mean_nll == 1.0 / 32);
}

BOOST_AUTO_TEST_CASE(the_same_number_of_chunks_reads_more_text_at_longer_lengths) {
  Asked o = options({8, 64});
  o.own.budget = "same-chunks";
  o.own.chunks = 10;
  const ProtocolResult got = non_overlapping(uniform_model(), toy_text(961), o);
  BOOST_TEST(got.lengths[0].n_scored == 80);
  BOOST_TEST(got.lengths[1].n_scored == 640);
  BOOST_TEST(got.parameters == "budget=same-chunks count=10");
  o.own.chunks = 16;
  BOOST_CHECK_EXCEPTION(non_overlapping(uniform_model(), toy_text(961), o), IoError,
                        says("[eval:non-overlapping] not_enough_data: expected 16 chunks of 64 "
                             "tokens, got 15"));
  o.common.allow_fewer = true;
  const ProtocolResult fewer = non_overlapping(uniform_model(), toy_text(961), o);
  BOOST_TEST(fewer.lengths[1].n_scored == 960);
  // What was used, so that it is not taken for what was asked for.
  BOOST_TEST(fewer.parameters == "budget=same-chunks count=16 (15 at 64)");
  o.common.lengths = {64};
  const ProtocolResult fifteen = non_overlapping(uniform_model(), toy_text(961), o);
  BOOST_TEST(fifteen.parameters == "budget=same-chunks count=15");
  o.own.chunks = 15;
  BOOST_TEST(non_overlapping(uniform_model(), toy_text(961), o).hash() == fifteen.hash());
}

BOOST_AUTO_TEST_CASE(a_limit_reads_only_the_beginning) {
  Asked o = options({8});
  o.common.max_tokens = 81;
  BOOST_TEST(non_overlapping(uniform_model(), toy_text(961), o).lengths[0].n_scored == 80);
}

BOOST_AUTO_TEST_CASE(bad_requests_begin_with_their_code) {
  const auto run = [](std::vector<int64_t> lengths) {
    return non_overlapping(uniform_model(), toy_text(100), options(std::move(lengths)));
  };
  BOOST_CHECK_EXCEPTION(run({1}), ConfigError, says("[eval:non-overlapping] length_too_short: "));
  BOOST_CHECK_EXCEPTION(run({100}), IoError,
                        says("[eval:non-overlapping] not_enough_data: expected at least 101 tokens "
                             "for one chunk of 100, got 100"));
  BOOST_TEST(run({99}).lengths[0].n_scored == 99);
  Asked o = options({4});
  o.own.chunks = 0;
  BOOST_CHECK_EXCEPTION(non_overlapping(uniform_model(), toy_text(100), o), ConfigError,
                        says("[eval:non-overlapping] bad_argument: expected chunks >= 1, got 0"));
}

BOOST_AUTO_TEST_CASE(a_cell_that_fails_does_not_end_the_table) {
  const ProtocolResult got =
      non_overlapping(failing_model(), toy_text(961), options({4, 20, 40, 100}));
  BOOST_TEST(got.lengths[0].failure == "");
  BOOST_TEST(got.lengths[1].failure == "nonfinite_logits");
  BOOST_TEST(got.lengths[2].failure == "position_out_of_range");
  BOOST_TEST(got.lengths[3].failure == "OOM");
  BOOST_TEST(got.lengths[3].message == "[eval:non-overlapping] OOM: length 100");
  BOOST_TEST(std::isnan(got.lengths[3].mean_nll));
}

BOOST_AUTO_TEST_SUITE_END()
