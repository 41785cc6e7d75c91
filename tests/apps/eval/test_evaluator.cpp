#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/evaluator.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/protocols/non_overlapping.h"
#include "apps/eval/scorer.h"
#include "apps/eval/text_stream.h"
#include "data/corpus.h"
#include "engine/base/error.h"
#include "tests/apps/toy_run.h"
#include "tests/support/messages.h"
#include "tests/support/on_cuda.h"

BOOST_AUTO_TEST_SUITE(test_evaluator)  // ctest: on_cuda

using namespace farfield;
using namespace farfield::eval;
using farfield::test::toy;

// The self-checks of both protocols on real models, untrained: their weights matter little here.

namespace {

EvalOptions options(std::vector<int64_t> lengths) {
  EvalOptions e;
  e.common.lengths = std::move(lengths);
  e.own<LastTokenOptions>().segments = 12;
  e.common.allow_fewer = true;
  return e;
}

struct Measured {
  data::Corpus corpus = data::Corpus::open(toy().data);
  Transformer model;

  // Weights ten times as large as usual, so that attention is far from uniform.
  explicit Measured(const std::string& posenc, double init_std = 0.2)
      : model(shape(posenc, init_std), 3) {}
  static ModelConfig shape(const std::string& posenc, double init_std) {
    ModelConfig c = run::resolve(toy().config(posenc)).model_of(320);
    c.n_layer = 2;
    c.init_std = init_std;
    return c;
  }
  Subject subject(uint64_t seed = 7) const {
    return subject_of(model, {}, stream_of_split(corpus, "test"), seed);
  }
  ProtocolResult run(const std::string& protocol, const EvalOptions& e) const {
    return evaluate(protocol, subject(), e);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(weights_stay_packed_from_pass_to_pass) {
  const Measured measured("alibi");
  const auto kept_bytes = [&] {
    int64_t sum = 0;
    for (const Parameter& p : measured.model.parameters()) sum += p.value.kept_bytes();
    return sum;
  };
  const ProtocolResult first = measured.run("non-overlapping", options({32}));
  const int64_t kept = kept_bytes();
  BOOST_TEST((kept > 0) == !test::is_on_cuda());
  const ProtocolResult second = measured.run("non-overlapping", options({32}));
  BOOST_TEST(kept_bytes() == kept);
  BOOST_TEST(second.lengths[0].mean_nll == first.lengths[0].mean_nll);
}

BOOST_AUTO_TEST_CASE(a_windowed_model_is_flat_beyond_its_reach) {
  // Reach (w - 1) R + 1 = 9 inputs, so every length from 10 on is the same.
  const ProtocolResult got = Measured("window(5)").run("last-token", options({4, 10, 64, 128}));
  for (const size_t at : {2u, 3u})
    for (size_t i = 0; i < got.lengths[1].items.size(); ++i)
      BOOST_TEST(got.lengths[at].items[i] == got.lengths[1].items[i],
                 boost::test_tools::tolerance(1e-4));
  BOOST_TEST(std::abs(got.lengths[0].mean_nll - got.lengths[1].mean_nll) > 1e-3);
}

BOOST_AUTO_TEST_CASE(a_uniform_model_gives_the_vocabulary_size_exactly) {
  const Measured uniform("none", 0);
  for (const char* protocol : {"last-token", "non-overlapping"})
    for (const LengthResult& cell : uniform.run(protocol, options({8, 100})).lengths)
      BOOST_TEST(cell.perplexity() == 320, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(one_batch_or_one_by_one_gives_the_same) {
  for (const char* posenc : {"rope", "kerple_log", "sinusoidal"}) {
    const Measured m(posenc);
    for (const char* protocol : {"last-token", "non-overlapping"}) {
      EvalOptions e = options({40});
      const ProtocolResult whole = m.run(protocol, e);
      e.common.batch_tokens = 1;
      const ProtocolResult single = m.run(protocol, e);
      for (size_t i = 0; i < whole.lengths[0].items.size(); ++i)
        BOOST_TEST(whole.lengths[0].items[i] == single.lengths[0].items[i],
                   boost::test_tools::tolerance(1e-5));
    }
  }
}

BOOST_AUTO_TEST_CASE(random_positions_are_the_same_for_every_batch_and_differ_between_draws) {
  const Measured m("rope + randomized");
  for (const char* protocol : {"last-token", "non-overlapping"}) {
    EvalOptions e = options({40});
    const ProtocolResult once = m.run(protocol, e);
    BOOST_TEST(once.lengths[0].n_draws == 1);
    e.common.batch_tokens = 1;
    const ProtocolResult single = m.run(protocol, e);
    for (size_t i = 0; i < once.lengths[0].items.size(); ++i)
      BOOST_TEST(once.lengths[0].items[i] == single.lengths[0].items[i],
                 boost::test_tools::tolerance(1e-5));
    e = options({40});
    e.common.draws = 3;
    const ProtocolResult mean = m.run(protocol, e);
    BOOST_TEST(mean.lengths[0].n_draws == 3);
    BOOST_TEST(mean.lengths[0].nll_spread > 0);
    BOOST_TEST(mean.lengths[0].items != once.lengths[0].items);
    // By hand, from the same draws.
    std::vector<double> sum(once.lengths[0].items.size());
    for (uint64_t draw = 0; draw < 3; ++draw) {
      Subject drawn = m.subject();
      drawn.model.scorer = scorer_of(m.model, {}, draw);
      const auto one = protocol_named(protocol).run(drawn, options({40}));
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += one.lengths[0].items[i];
    }
    for (size_t i = 0; i < sum.size(); ++i)
      BOOST_TEST(mean.lengths[0].items[i] == sum[i] / 3, boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(an_encoding_that_draws_nothing_is_measured_once) {
  EvalOptions e = options({16});
  e.common.draws = 4;
  BOOST_TEST(Measured("rope").run("last-token", e).lengths[0].n_draws == 1);
  e.common.draws = 0;
  BOOST_CHECK_EXCEPTION(check(e), ConfigError,
                        says("[eval] bad_argument: --draws: expected 1 to 1000000, got 0"));
}

BOOST_AUTO_TEST_CASE(both_protocols_agree_where_they_measure_the_same) {
  // The last target of a chunk of L inputs is what last-token sees with context L.
  const Measured m("alibi");
  const Scorer scorer = scorer_of(m.model, {});
  std::vector<int32_t> window(33);
  m.corpus.split("test").copy(0, 33, window.data());
  const Scorer::Ids ids(window.begin(), window.end() - 1);
  const std::vector<double> all = scorer.score(ids, {window.begin() + 1, window.end()}, 1);
  BOOST_TEST(scorer.score(ids, {window.back()}, 1)[0] == all.back(),
             boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(positions_beyond_a_learned_table_fail_their_cell_alone) {
  const ProtocolResult got = Measured("learned_abs").run("last-token", options({8, 17, 18}));
  BOOST_TEST(got.lengths[0].failure == "");
  BOOST_TEST(got.lengths[1].failure == "");  // 16 inputs
  BOOST_TEST(got.lengths[2].failure == "position_out_of_range");
  BOOST_TEST(got.lengths[2].message.find("[eval:last-token] position_out_of_range: ") == 0u);
}

BOOST_AUTO_TEST_CASE(weights_that_are_not_finite_fail_their_cell_with_the_item_named) {
  Measured m("none");
  m.model.parameters()[0].value.data<float>()[0] = NAN;
  for (auto& p : m.model.parameters())
    if (p.name.find("final_layer_norm.weight") != std::string::npos) p.value.data<float>()[0] = NAN;
  const ProtocolResult got = m.run("last-token", options({8}));
  BOOST_TEST(got.lengths[0].failure == "nonfinite_logits");
  BOOST_TEST(got.lengths[0].message.find("segment 0 (tokens ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(seeds_choose_the_segments_unless_they_are_common) {
  const Measured m("none");
  EvalOptions e = options({8});
  const auto starts = [&](uint64_t seed) {
    return evaluate("last-token", m.subject(seed), e).starts;
  };
  BOOST_CHECK(starts(1) != starts(2));
  e.own<LastTokenOptions>().segment_set = "common";
  BOOST_CHECK(starts(1) == starts(2));
}

BOOST_AUTO_TEST_CASE(bad_baselines_are_refused_before_anything_is_measured) {
  EvalOptions e = options({8});
  e.baselines = {"none", "masked@0"};
  BOOST_CHECK_EXCEPTION(check(e), ConfigError, says("[eval] bad_argument: --baseline: expected"));
  e.baselines = {};
  BOOST_CHECK_EXCEPTION(check(e), ConfigError, says("[eval] bad_argument: --baseline: expected"));
  e.baselines = {"truncated@4", "masked@4"};
  BOOST_CHECK_NO_THROW(check(e));
  for (const char* inside : {"gradient", "reach", "cached", "effective-length", "log-fit",
                             "definiteness", "speed", "coherence", "passkey"}) {
    e.protocols = {"last-token", inside};
    e.baselines = {"truncated@4", "masked@4"};
    BOOST_CHECK_EXCEPTION(check(e), ConfigError,
                          says(std::string("[eval:") + inside +
                               "] bad_argument: expected a model to look inside, got truncated@4"));
    e.baselines = {"masked@4"};
    BOOST_CHECK_NO_THROW(check(e));
  }
}

BOOST_AUTO_TEST_CASE(unknown_words_are_refused_with_the_nearest) {
  EvalOptions e = options({8});
  e.protocols = {"last-tokn"};
  BOOST_CHECK_EXCEPTION(check(e), ConfigError,
                        says("[eval] bad_argument: --protocol: expected one of last-token, ",
                             "got 'last-tokn'; did you mean 'last-token'?"));
  e = options({8});
  e.own<NonOverlappingOptions>().budget = "same";
  BOOST_CHECK_EXCEPTION(check(e), ConfigError, says("--budget: expected one of same-text"));
}

BOOST_AUTO_TEST_SUITE_END()
