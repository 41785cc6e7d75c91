// Real models, untrained: their weights matter little here.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <new>

#include "apps/eval/protocols/cached.h"
#include "apps/eval/scorer.h"
#include "engine/storage.h"
#include "layers/module.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/messages.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_cached)
namespace {

ModelConfig config_of(const std::string& posenc) {
  ModelConfig config = tiny_config(posenc);
  config.n_layer = 3;
  return config;
}

struct Asked {
  CommonOptions common;
  LastTokenOptions segments;
  CachedOptions own;
};

Asked options(std::vector<int64_t> lengths, int64_t cache, int64_t n = 6) {
  Asked asked;
  asked.common.lengths = std::move(lengths);
  asked.segments.segments = n;
  asked.own.cache = cache;
  return asked;
}

ProtocolResult run(const Transformer& model, const Asked& asked) {
  const Subject subject = subject_of(model, {}, test::toy_text(40000), 5);
  check_common("cached", asked.common);
  check(asked.own);
  return cached(subject, asked.common, asked.segments, asked.own);
}

double quantity(const LengthResult& cell, const std::string& name) {
  for (const Quantity& q : cell.quantities)
    if (q.name == name) return q.value;
  return std::nan("");
}

// The nll of each item by a full pass of a model with the same weights and the mask.
std::vector<double> masked_items(const Transformer& model, int64_t w, const Asked& asked) {
  ModelConfig config = config_of(concat(model.encoding().canonical(), " + window(", w, ")"));
  const Transformer masked(config, 1, model.compute_dtype());
  std::map<std::string, Tensor> values;
  for (const Parameter& p : model.parameters()) values.emplace(p.name, p.value);
  load_parameters(masked.parameters(), values);
  const Subject subject = subject_of(masked, {}, test::toy_text(40000), 5);
  return last_token(subject, asked.common, asked.segments).lengths.at(0).items;
}

BOOST_AUTO_TEST_CASE(the_cache_is_the_pass_over_everything_under_its_mask) {
  for (const char* posenc : {"alibi", "kerple_log", "rope", "t5", "sandwich", "none"}) {
    const Transformer model(config_of(posenc), 1);
    shake(model);
    const Asked asked = options({40}, 7);
    const LengthResult got = run(model, asked).lengths.at(0);
    const std::vector<double> want = masked_items(model, 7, asked);
    BOOST_TEST_REQUIRE(got.items.size() == want.size(), posenc << got.message);
    for (size_t i = 0; i < want.size(); ++i)
      BOOST_TEST(std::abs(got.items[i] - want[i]) <= 1e-4 * std::abs(want[i]),
                 posenc << ": " << got.items[i] << " and " << want[i]);
    BOOST_TEST(quantity(got, "cache_error") <= 1e-4, posenc);
    BOOST_TEST(quantity(got, "is_reencoded") == 0);
  }
  const Transformer wide(config_of("rope"), 1, DType::f64);
  shake(wide);
  BOOST_TEST(quantity(run(wide, options({40}, 7)).lengths.at(0), "cache_error") <= 1e-10);
}

BOOST_AUTO_TEST_CASE(score_evaluations_are_counted_over_the_inputs) {
  const Transformer model(config_of("alibi"), 1);
  // t = 1 .. n of min(t, W): n = L - 1 inputs, or L with context=L
  const auto sum = [](int64_t n, int64_t w) {
    double pairs = 0;
    for (int64_t t = 1; t <= n; ++t) pairs += static_cast<double>(std::min(t, w));
    return pairs;
  };
  Asked asked = options({5, 40}, 7);
  const ProtocolResult shorter = run(model, asked);
  BOOST_TEST(shorter.parameters ==
             "segments=6 set=per-seed longest=40 context=L-1 cache=7 timed=8");
  BOOST_TEST(shorter.hash() == "104bcaa931f3b385");  // kept cells carry this hash
  BOOST_TEST(quantity(shorter.lengths.at(0), "score_evaluations") == sum(4, 7));
  BOOST_TEST(quantity(shorter.lengths.at(1), "score_evaluations") == sum(39, 7));
  asked.segments.context = "L";
  BOOST_TEST(quantity(run(model, asked).lengths.at(1), "score_evaluations") == sum(40, 7));
}

BOOST_AUTO_TEST_CASE(it_is_not_a_fresh_pass_over_the_last_tokens) {
  const Transformer model(config_of("alibi"), 1);
  shake(model, 1.0);
  const LengthResult fresh = last_token(subject_of(model, {}, test::toy_text(40000), 5),
                                        options({8}, 1).common, options({8}, 1).segments)
                                 .lengths.at(0);
  const LengthResult got = run(model, options({40}, 7)).lengths.at(0);
  BOOST_TEST(std::abs(got.mean_nll - fresh.mean_nll) > 1e-4);
}

BOOST_AUTO_TEST_CASE(a_limit_that_is_not_reached_changes_nothing) {
  const Transformer model(config_of("kerple_log"), 1);
  shake(model);
  const Asked asked = options({24}, 24);
  const LengthResult want =
      last_token(subject_of(model, {}, test::toy_text(40000), 5), asked.common, asked.segments)
          .lengths.at(0);
  const LengthResult got = run(model, asked).lengths.at(0);
  BOOST_TEST(got.tokens == want.tokens);
  // Up to rounding: a library may add in another order where it has fewer rows, and products of few
  // rows have another library.
  for (size_t i = 0; i < want.items.size(); ++i)
    BOOST_TEST(got.items[i] == want.items[i], boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(values_are_constant_beyond_the_reach) {
  // (w - 1) R + 1 = 13 tokens matter.
  const Transformer model(config_of("alibi"), 1, DType::f64);
  shake(model);
  const ProtocolResult got = run(model, options({8, 14, 30, 60}, 5));
  for (const size_t at : {2u, 3u})
    for (size_t i = 0; i < got.lengths[1].items.size(); ++i)
      BOOST_TEST(got.lengths[at].items[i] == got.lengths[1].items[i],
                 boost::test_tools::tolerance(1e-9));
  BOOST_TEST(std::abs(got.lengths[0].mean_nll - got.lengths[1].mean_nll) > 1e-6);
}

BOOST_AUTO_TEST_CASE(score_evaluations_are_those_of_the_paper) {
  // 16384 tokens through a cache of 2048: the numbers of protocols.md section 9.
  ModelConfig config = tiny_config("alibi");
  config.n_layer = 1;
  const Transformer model(config, 1);
  Asked asked = options({16384}, 2048, 1);
  asked.segments.context = "L";
  asked.own.check_segments = 0;
  const LengthResult got = run(model, asked).lengths.at(0);
  BOOST_TEST(quantity(got, "score_evaluations") == 31458304);
  BOOST_TEST(quantity(got, "full_ratio") == 134225920.0 / 31458304);
  BOOST_TEST(std::isnan(quantity(got, "cache_error")));
}

BOOST_AUTO_TEST_CASE(the_cache_has_the_bytes_of_its_keys_and_values_at_every_length) {
  const Transformer model(config_of("alibi"), 1);
  for (const LengthResult& cell : run(model, options({40, 80, 160}, 16)).lengths)
    BOOST_TEST(quantity(cell, "cache_bytes") == 2 * 3 * 16 * 8 * 4);  // layers, W, width, float32
}

BOOST_AUTO_TEST_CASE(memory_does_not_grow_with_the_length) {
  ModelConfig config = config_of("kerple_log");
  config.d_model = 64;
  const Transformer model(config, 1);
  const auto peak_at = [&](int64_t length) {
    Asked asked = options({length}, 64, 2);
    asked.common.batch_tokens = 1;
    const int64_t before = memory_stats({}).current_bytes;
    reset_peak_memory({});
    BOOST_TEST(run(model, asked).lengths.at(0).failure == "");
    return memory_stats({}).peak_bytes - before;
  };
  const int64_t at_512 = peak_at(512), at_8192 = peak_at(8192);
  // The ids themselves, 4 bytes each, and the encoding's tables over distances do grow.
  BOOST_TEST(at_8192 - at_512 <= (8192 - 512) * 4 * (2 + 12), at_512 << " and " << at_8192);
  BOOST_TEST(at_8192 < 2 * at_512, at_512 << " and " << at_8192);
}

BOOST_AUTO_TEST_CASE(an_absolute_encoding_reads_the_last_tokens_afresh_and_says_so) {
  const Transformer model(config_of("sinusoidal"), 1);
  shake(model);
  const LengthResult got = run(model, options({40}, 7)).lengths.at(0);
  BOOST_TEST(got.failure == "");
  BOOST_TEST(quantity(got, "is_reencoded") == 1);
  BOOST_TEST(quantity(got, "cache_bytes") == 0);
  BOOST_TEST_REQUIRE(got.notes.size() == 1u);
  BOOST_TEST(got.notes[0].rfind("re-encoded: a fresh pass over the last 7 tokens, since they "
                                "cannot be cached: [cache] expected positions that count",
                                0) == 0u);
  // The same tokens, each after the 7 before it.
  Asked fresh = options({8, 40}, 7);
  const ProtocolResult want =
      last_token(subject_of(model, {}, test::toy_text(40000), 5), fresh.common, fresh.segments);
  BOOST_TEST(got.tokens == want.lengths[0].tokens);
  for (size_t i = 0; i < got.items.size(); ++i)
    BOOST_TEST(got.items[i] == want.lengths[0].items[i], boost::test_tools::tolerance(1e-5));
}

// L - 1 tokens come one after another; the eighth and each later one has the last 7 read afresh.
BOOST_AUTO_TEST_CASE(re_encoding_costs_a_pass_over_the_window_for_each_token) {
  const Transformer model(config_of("sinusoidal"), 1);
  const ProtocolResult got = run(model, options({8, 9, 40}, 7));
  // What is not dropped proceeds as usual: 1 + 2 + ... + 7.
  BOOST_TEST(quantity(got.lengths[0], "is_reencoded") == 0);
  BOOST_TEST(quantity(got.lengths[0], "score_evaluations") == 28);
  BOOST_TEST(quantity(got.lengths[1], "score_evaluations") == 28 + 28);
  BOOST_TEST(quantity(got.lengths[2], "score_evaluations") == 28 + 32 * 28);
  BOOST_TEST(quantity(got.lengths[2], "full_ratio") == 780.0 / (33 * 28));
  // A cache of as many tokens has 7 for each.
  const Transformer relative(config_of("alibi"), 1);
  BOOST_TEST(quantity(run(relative, options({40}, 7)).lengths[0], "score_evaluations") ==
             28 + 32 * 7);
  // Under a mask of 3, 1 + 2 + 3 * 5 a pass.
  const Transformer masked(config_of("sinusoidal + window(3)"), 1);
  BOOST_TEST(quantity(run(masked, options({40}, 7)).lengths[0], "score_evaluations") == 33 * 18);
}

BOOST_AUTO_TEST_CASE(what_is_timed_is_one_token_after_another) {
  for (const char* posenc : {"alibi", "sinusoidal"}) {
    const Transformer model(config_of(posenc), 1);
    Asked asked = options({120}, 100, 1);
    asked.own.check_segments = 0;
    int64_t n_tokens = 0;
    Subject subject =
        subject_of(model, {}, test::toy_text(40000), 5, [&](int64_t n) { n_tokens += n; });
    const LengthResult got = cached(subject, asked.common, asked.segments, asked.own).lengths.at(0);
    // What is predicted; then the cache is filled and fed 8 times, or there are 8 passes.
    BOOST_TEST(n_tokens == (quantity(got, "is_reencoded") == 1 ? 100 + 8 * 100 : 119 + 100 + 8));
    BOOST_TEST(quantity(got, "tokens_per_s") > 0);
  }
}

BOOST_AUTO_TEST_CASE(a_table_of_positions_that_is_too_short_fails_its_cell) {
  const Transformer model(config_of("learned_abs"), 1);  // 9 rows
  const ProtocolResult got = run(model, options({8, 40}, 20));
  BOOST_TEST(got.lengths[0].failure == "");
  BOOST_TEST(got.lengths[1].failure == "position_out_of_range");
}

// Only the fourth segment has token 12, of which the model knows nothing, 20 tokens before the one
// that is predicted: it matters at the longer length alone.
BOOST_AUTO_TEST_CASE(scores_that_are_not_finite_fail_the_cell_and_name_the_segment) {
  for (const char* posenc : {"alibi", "sinusoidal"}) {  // from the cache, and afresh
    const Transformer model(config_of(posenc), 1);
    for (Parameter p : model.parameters())
      if (p.name == "gpt_neox.embed_in.weight")
        std::fill_n(p.value.data<float>() + 12 * 8, 8, std::nanf(""));
    const Asked asked = options({8, 40}, 30);
    const int64_t start = draw_segments("cached", test::toy_text(40000), 40, 6, 5, false).at(3);
    TokenStream text = test::toy_text(40000);
    text.copy = [bad = start + 19](int64_t begin, int64_t n, int32_t* out) {
      test::toy_text(40000).copy(begin, n, out);
      if (begin <= bad && bad < begin + n) out[bad - begin] = 12;
    };
    const ProtocolResult got =
        cached(subject_of(model, {}, text, 5), asked.common, asked.segments, asked.own);
    BOOST_TEST(got.lengths[0].failure == "", posenc);
    const LengthResult& cell = got.lengths[1];
    BOOST_TEST(cell.failure == "nonfinite_logits", posenc);
    BOOST_TEST(cell.message.rfind(concat("[eval:cached] nonfinite_logits: expected finite scores "
                                         "for segment 3 (tokens ",
                                         start, " to ", start + 39, ") at length 40, got "),
                                  0) == 0u,
               cell.message);
    BOOST_TEST(std::isnan(cell.mean_nll));
    BOOST_TEST(cell.quantities.empty());
  }
}

BOOST_AUTO_TEST_CASE(out_of_memory_fails_its_cell_unless_smaller_batches_fit) {
  for (const char* posenc : {"alibi", "sinusoidal"}) {
    const Transformer model(config_of(posenc), 1);
    const Asked asked = options({8, 40, 9}, 20);
    const auto with_room_for = [&](int64_t most) {
      const auto watch = [most](int64_t n_tokens) {
        if (n_tokens > most) throw std::bad_alloc();
      };
      return cached(subject_of(model, {}, test::toy_text(40000), 5, watch), asked.common,
                    asked.segments, asked.own);
    };
    // One segment of 7 or 8 tokens fits, a piece of 20 does not: then all of both.
    const ProtocolResult little = with_room_for(15), enough = with_room_for(40);
    BOOST_TEST(little.lengths[1].failure == "OOM", posenc);
    BOOST_TEST(little.lengths[1].message == "[eval:cached] OOM: length 40");
    for (const size_t at : {0u, 2u}) {
      BOOST_TEST(little.lengths[at].failure == "", posenc);
      BOOST_TEST(little.lengths[at].items.size() == 6u);
    }
    const ProtocolResult want = run(model, asked);
    BOOST_TEST(enough.lengths[1].failure == "", posenc);
    BOOST_TEST_REQUIRE(enough.lengths[1].items.size() == 6u);
    for (size_t i = 0; i < 6; ++i)
      BOOST_TEST(enough.lengths[1].items[i] == want.lengths[1].items[i],
                 boost::test_tools::tolerance(1e-5));
  }
}

BOOST_AUTO_TEST_CASE(batches_of_any_size_give_the_same_items) {
  const Transformer model(config_of("rope"), 1, DType::f64);
  shake(model);
  Asked asked = options({40}, 7);
  const LengthResult whole = run(model, asked).lengths.at(0);
  asked.common.batch_tokens = 1;
  const LengthResult single = run(model, asked).lengths.at(0);
  for (size_t i = 0; i < whole.items.size(); ++i)
    BOOST_TEST(whole.items[i] == single.items[i], boost::test_tools::tolerance(1e-10));
}

BOOST_AUTO_TEST_CASE(the_limit_is_four_training_lengths_unless_given_and_is_said) {
  const Transformer model(config_of("alibi"), 1);
  Asked asked = options({40}, 1);
  asked.own.cache.reset();
  BOOST_TEST(run(model, asked).parameters ==
             "segments=6 set=per-seed longest=40 context=L-1 cache=36 timed=8");
}

BOOST_AUTO_TEST_CASE(bad_requests_begin_with_their_code) {
  const Transformer model(config_of("alibi"), 1);
  BOOST_CHECK_EXCEPTION(run(model, options({40}, 0)), ConfigError,
                        says("[eval:cached] bad_argument: expected cache >= 1, got 0"));
  BOOST_CHECK_EXCEPTION(run(model, options({1}, 4)), ConfigError,
                        says("[eval:cached] length_too_short: "));
  BOOST_CHECK_EXCEPTION(run(model, options({50000}, 4)), IoError,
                        says("[eval:cached] not_enough_data: "));
  const Asked asked = options({40}, 4);
  BOOST_CHECK_EXCEPTION(cached(test::subject(test::uniform_model(), test::toy_text(500)),
                               asked.common, asked.segments, asked.own),
                        ConfigError,
                        says("[eval:cached] bad_argument: expected a model to look inside"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
