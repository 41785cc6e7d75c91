#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <new>

#include "apps/eval/protocols/coherence.h"
#include "apps/eval/protocols/last_token.h"
#include "apps/eval/scorer.h"
#include "layers/generate.h"
#include "tests/apps/eval/protocols/toy_models.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/messages.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_coherence_protocol)
namespace {

constexpr int64_t kTrainLen = 32;

CoherenceOptions few() {
  CoherenceOptions own;
  own.sequences = 3;
  own.prompts = 2;
  own.n_new = 40;
  return own;
}

double quantity(const LengthResult& cell, const std::string& name) {
  for (const Quantity& q : cell.quantities)
    if (q.name == name) return q.value;
  return std::nan("");
}

LengthResult measured(const Scorer& model, const CoherenceOptions& own = few()) {
  Subject s = test::subject(model, test::toy_text(4000));
  s.model.train_len = kTrainLen;
  check(own);
  return measure_coherence(s, {}, own).lengths.at(0);
}

// Perplexity 2 up to position `last`, counting from 1, and 2 ratio beyond.
Scorer breaking_model(int64_t last, double ratio) {
  return test::model_of([last, ratio](const int32_t*, int64_t t, int32_t) {
    return std::log(t < last ? 2.0 : 2.0 * ratio);
  });
}

BOOST_AUTO_TEST_CASE(a_model_that_holds_is_coherent_everywhere) {
  const LengthResult got = measured(test::uniform_model());
  BOOST_TEST(quantity(got, "perplexity_at_train_len") == test::kToyVocab,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(quantity(got, "coherent_share") == 1);
  BOOST_TEST(quantity(got, "coherent_share_beyond") == 1);
  BOOST_TEST(quantity(got, "breakdown_position") == INFINITY);
  BOOST_TEST(got.quantities.at(3).word == "none");
  BOOST_TEST(quantity(got, "scored_tokens_at_train_len") == 3 * 16);
  BOOST_TEST(std::isnan(quantity(got, "bits_per_byte_at_train_len")));
  Subject sized = test::subject(test::uniform_model(), test::toy_text(4000));
  sized.model.train_len = kTrainLen;
  sized.text.count_bytes = [](int64_t, int64_t n) { return 5 * n / 2; };
  BOOST_TEST(quantity(measure_coherence(sized, {}, few()).lengths.at(0),
                      "bits_per_byte_at_train_len") == std::log2(test::kToyVocab) / 2.5,
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST_REQUIRE(got.series.size() == 3u);
  BOOST_TEST(got.series[0].name == "perplexity");
  BOOST_TEST(got.series[0].y.size() == 4u * kTrainLen);
  BOOST_TEST(got.series[0].x.front() == 1);
  BOOST_TEST(got.series[2].name == "perplexity by residue");
  BOOST_TEST(got.series[2].y.size() == 1u * kTrainLen);
  BOOST_TEST(got.series[2].x.front() == 0);
}

BOOST_AUTO_TEST_CASE(a_model_that_breaks_does_so_where_its_curve_does) {
  // Smoothed over 32 / 16 = 2 positions to each side: t = 62 averages 60 .. 64, of which four are
  // beyond 60, nll = (ln 2 + 4 ln 8) / 5: more than twice the reference 2, and so on from there.
  const LengthResult got = measured(breaking_model(60, 4));
  BOOST_TEST(quantity(got, "perplexity_at_train_len") == 2, boost::test_tools::tolerance(1e-12));
  const auto tolerance = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(quantity(got, "perplexity_0.75_to_1") == 2, tolerance);
  BOOST_TEST(quantity(got, "perplexity_1.5_to_2") == 2 * std::pow(4, 4.0 / 16), tolerance);
  BOOST_TEST(quantity(got, "perplexity_3_to_4") == 8, tolerance);
  // 2 * 4^(3/5) = 4.59 at t = 61 is above 4 as well; 2 * 4^(2/5) = 3.48 at t = 60 is not.
  BOOST_TEST(quantity(got, "breakdown_position") == 61);
  // Above 2.5: 2 * 4^(1/5) = 2.64 at t = 59.
  BOOST_TEST(quantity(got, "coherent_share") == 58.0 / 128);
  BOOST_TEST(quantity(got, "coherent_share_beyond") == 26.0 / 96);
}

BOOST_AUTO_TEST_CASE(perplexity_by_residue_is_by_place_in_blocks_of_the_training_length) {
  // Worst right after each block begins.
  const LengthResult got = measured(test::model_of(
      [](const int32_t*, int64_t t, int32_t) { return std::log(t % kTrainLen == 0 ? 9.0 : 3.0); }));
  BOOST_TEST(got.series[2].y[0] == 9, boost::test_tools::tolerance(1e-12));
  for (size_t r = 1; r < kTrainLen; ++r)
    BOOST_TEST(got.series[2].y[r] == 3, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(the_curve_is_a_mean_over_sequences_of_the_text) {
  const CoherenceOptions own = few();
  Subject s = test::subject(test::target_model(), test::toy_text(4000));
  s.model.train_len = kTrainLen;
  const ProtocolResult got = measure_coherence(s, {}, own);
  BOOST_TEST_REQUIRE(got.starts.size() == 3u);
  for (const int64_t t : {1, 7, 128}) {
    double mean = 0;
    for (const int64_t start : got.starts) {
      int32_t target = 0;
      s.text.copy(start + t, 1, &target);
      mean += target / 3.0;
    }
    BOOST_TEST(got.lengths[0].series[0].y[static_cast<size_t>(t - 1)] == std::exp(mean),
               boost::test_tools::tolerance(1e-12));
  }
  BOOST_TEST(got.parameters ==
             "sequences=3 positions=128 prompts=2 of 44 new=40 temperature=0.8 "
             "reread=each after 32");
}

BOOST_AUTO_TEST_CASE(the_reference_of_a_long_training_length_has_its_32nd_part) {
  Subject s = test::subject(test::target_model(), test::toy_text(8000));
  s.model.train_len = 1024;
  CoherenceOptions own = few();
  own.sequences = 2;
  const ProtocolResult got = measure_coherence(s, {}, own);
  BOOST_TEST(quantity(got.lengths.at(0), "scored_tokens_at_train_len") == 2 * 32);
  double mean = 0;
  for (const int64_t start : got.starts)
    for (int64_t t = 1009; t <= 1040; ++t) {
      int32_t target = 0;
      s.text.copy(start + t, 1, &target);
      mean += target / 64.0;
    }
  BOOST_TEST(quantity(got.lengths.at(0), "perplexity_at_train_len") == std::exp(mean),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(scores_that_are_not_finite_fail_the_cell) {
  const LengthResult got = measured(test::model_of(
      [](const int32_t*, int64_t t, int32_t) { return t == 50 ? std::nan("") : 1.0; }));
  BOOST_TEST(got.failure == "nonfinite_logits");
  BOOST_TEST(got.message.rfind("[eval:coherence] nonfinite_logits: expected finite scores for "
                               "sequence 0 (from token ",
                               0) == 0u);
}

ModelConfig config_of(const std::string& posenc) {
  ModelConfig config = tiny_config(posenc);
  config.train_len = kTrainLen;
  return config;
}

BOOST_AUTO_TEST_CASE(a_continuation_is_read_again_and_its_repetitions_counted) {
  const Transformer model(config_of("alibi"), 1, DType::f64);
  shake(model, 1.0);
  Subject s = subject_of(model, {}, test::toy_text(4000), 5);
  s.text.decode = [](std::span<const int32_t> ids) {
    std::string text = "\n\x01\xff";
    text.insert(0, ids.size(), 'x');
    return text;
  };
  s.text.n_vocab = 11;
  const CoherenceOptions own = few();
  const LengthResult got = measure_coherence(s, {}, own).lengths.at(0);
  BOOST_TEST_REQUIRE(got.failure == "", got.message);
  BOOST_TEST(got.notes.size() == 2u);
  std::string want = "greedy: \" ??\"";
  want.insert(9, 40, 'x');
  BOOST_TEST(got.notes[0] == want);
  BOOST_TEST(got.notes[1].rfind("sampled: \"x", 0) == 0u);

  CoherenceOptions strided = own;
  strided.reread_stride = 7;
  const ProtocolResult of_stride = measure_coherence(s, {}, strided);
  BOOST_TEST(of_stride.parameters.ends_with("reread=7 after 26..32"), of_stride.parameters);

  // By hand: the same prompts, continued, and each new token read after the 32 before it; with a
  // stride, after those of the 32 before the last token of its pass.
  const std::vector<int64_t> starts =
      draw_segments("coherence", test::toy_text(4000), 44, 2, 5, false);
  double nll = 0, strided_nll = 0, distinct = 0;
  for (size_t i = 0; i < 2; ++i) {
    std::vector<int32_t> text(44);
    s.text.copy(starts[i], 44, text.data());
    GenerateOptions options;
    options.n_new = 40;
    options.n_token = 11;
    const Generated made =
        generate(model, Tensor::from(std::span<const int32_t>(text), {1, 44}), options);
    text.insert(text.end(), made.tokens[0].begin(), made.tokens[0].end());
    const auto nll_after = [&](int64_t first, int64_t t) {
      const std::vector<int32_t> row(text.begin() + first, text.begin() + t);
      const Tensor ids = Tensor::from(std::span<const int32_t>(row), {1, t - first});
      const std::vector<int32_t> target = {text[static_cast<size_t>(t)]};
      const Tensor targets = Tensor::from(std::span<const int32_t>(target), {1});
      return model.last_nll(ids, targets).to_vector()[0];
    };
    for (int64_t t = 44; t < 84; ++t) {
      nll += nll_after(t - 32, t);
      const int64_t last_of_pass = std::min<int64_t>(44 + (t - 44) / 7 * 7 + 6, 83);
      strided_nll += nll_after(last_of_pass - 32, t);
    }
    std::vector<std::vector<int32_t>> grams;
    for (size_t at = 44; at + 4 <= 84; ++at) {
      const std::vector<int32_t> gram(text.begin() + static_cast<int64_t>(at),
                                      text.begin() + static_cast<int64_t>(at) + 4);
      if (std::find(grams.begin(), grams.end(), gram) == grams.end()) grams.push_back(gram);
    }
    distinct += static_cast<double>(grams.size()) / 37;
  }
  BOOST_TEST(quantity(got, "greedy_nll") == nll / 80, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(quantity(of_stride.lengths.at(0), "greedy_nll") == strided_nll / 80,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(quantity(got, "greedy_distinct_4") == distinct / 2,
             boost::test_tools::tolerance(1e-12));
  for (const char* name : {"greedy_cycle_share", "sampled_distinct_4", "sampled_cycle_share"}) {
    BOOST_TEST(quantity(got, name) >= 0, name);
    BOOST_TEST(quantity(got, name) <= 1, name);
  }
  // An untrained model soon repeats itself when it always takes the most likely token.
  BOOST_TEST(quantity(got, "sampled_distinct_4") > quantity(got, "greedy_distinct_4"));
  BOOST_TEST(quantity(got, "sampled_nll") > quantity(got, "greedy_nll"));
}

BOOST_AUTO_TEST_CASE(batches_of_any_size_give_the_same_numbers) {
  const Transformer model(config_of("rope"), 1, DType::f64);
  shake(model);
  const Subject s = subject_of(model, {}, test::toy_text(4000), 5);
  CommonOptions single;
  single.batch_tokens = 1;
  const LengthResult a = measure_coherence(s, {}, few()).lengths.at(0);
  const LengthResult b = measure_coherence(s, single, few()).lengths.at(0);
  BOOST_TEST_REQUIRE(a.quantities.size() == b.quantities.size());
  for (size_t i = 0; i < a.quantities.size(); ++i)
    if (std::isfinite(a.quantities[i].value))
      BOOST_TEST(a.quantities[i].value == b.quantities[i].value,
                 boost::test_tools::tolerance(1e-9));
}

// A model whose scores come from a stand-in, so that only what it writes is its own.
struct Writer {
  explicit Writer(const Scorer& scorer) : model(config_of("alibi"), 1, DType::f64) {
    shake(model);
    subject = subject_of(model, {}, test::toy_text(4000), 5);
    subject.model.scorer = scorer;
    subject.model.scorer.vocab_size = 13;
  }
  Transformer model;
  Subject subject;
};

BOOST_AUTO_TEST_CASE(scores_that_are_not_finite_as_text_is_written_fail_the_cell) {
  // The model knows nothing of token 12, which only the second prompt has.
  Writer writer(test::uniform_model());
  for (Parameter p : writer.model.parameters())
    if (p.name == "gpt_neox.embed_in.weight")
      std::fill_n(p.value.data<double>() + 12 * 8, 8, std::nan(""));
  const int64_t start = draw_segments("coherence", test::toy_text(4000), 44, 2, 5, false).at(1);
  writer.subject.text.copy = [start](int64_t begin, int64_t n, int32_t* out) {
    test::toy_text(4000).copy(begin, n, out);
    if (begin <= start + 10 && start + 10 < begin + n) out[start + 10 - begin] = 12;
  };
  for (const int64_t batch_tokens : {0, 1}) {
    CommonOptions common;
    common.batch_tokens = batch_tokens;
    const LengthResult got = measure_coherence(writer.subject, common, few()).lengths.at(0);
    BOOST_TEST(got.failure == "nonfinite_logits");
    BOOST_TEST(got.message.rfind(concat("[eval:coherence] nonfinite_logits: expected finite scores "
                                        "for the greedy token at position 44 after prompt 1 (from "
                                        "token ",
                                        start, "), got "),
                                 0) == 0u,
               got.message);
    BOOST_TEST(got.quantities.empty());
  }
}

BOOST_AUTO_TEST_CASE(scores_that_are_not_finite_as_text_is_read_again_fail_the_cell) {
  int64_t n_read = 0;  // passes over 32 tokens: 40 for each prompt
  Scorer scorer = test::uniform_model();
  scorer.score = [&](const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t batch) {
    std::vector<double> nll(targets.size(), 1.0);
    if (ids.size() != static_cast<size_t>(32 * batch)) return nll;
    BOOST_TEST(targets.size() == static_cast<size_t>(batch));
    for (double& value : nll)
      if (++n_read == 51) value = std::nan("");
    return nll;
  };
  const LengthResult got = measure_coherence(Writer(scorer).subject, {}, few()).lengths.at(0);
  BOOST_TEST(got.failure == "nonfinite_logits");
  BOOST_TEST(got.message.find("the greedy token at position 54 after prompt 1 (from token ") !=
                 std::string::npos,
             got.message);
  BOOST_TEST(got.message.find("), read again, got ") != std::string::npos, got.message);
}

BOOST_AUTO_TEST_CASE(out_of_memory_fails_the_cell_unless_smaller_batches_fit) {
  // Too large: a row of the curve; one sequence that is written; two of them.
  Scorer scorer = test::uniform_model();
  scorer.score = [](const Scorer::Ids& ids, const Scorer::Ids& targets, int64_t batch) {
    if (ids.size() >= static_cast<size_t>(128 * batch)) throw std::bad_alloc();
    return std::vector<double>(targets.size(), 1.0);
  };
  BOOST_TEST(measured(scorer).failure == "OOM");
  Writer writer(test::uniform_model());
  const LengthResult want = measure_coherence(writer.subject, {}, few()).lengths.at(0);
  writer.subject.session.watch = [](int64_t) { throw std::bad_alloc(); };
  BOOST_TEST(measure_coherence(writer.subject, {}, few()).lengths.at(0).failure == "OOM");
  writer.subject.session.watch = [](int64_t n) {
    if (n > 1) throw std::bad_alloc();
  };
  const LengthResult got = measure_coherence(writer.subject, {}, few()).lengths.at(0);
  BOOST_TEST(got.failure == "");
  BOOST_TEST(quantity(got, "greedy_distinct_4") == quantity(want, "greedy_distinct_4"));
}

BOOST_AUTO_TEST_CASE(a_table_of_positions_that_is_too_short_fails_the_cell) {
  const Transformer model(config_of("learned_abs"), 1);
  const Subject s = subject_of(model, {}, test::toy_text(4000), 5);
  BOOST_TEST(measure_coherence(s, {}, few()).lengths.at(0).failure == "position_out_of_range");
}

BOOST_AUTO_TEST_CASE(bad_requests_begin_with_their_code) {
  const auto refused = [](auto change, const char* message) {
    CoherenceOptions own = few();
    change(own);
    BOOST_CHECK_EXCEPTION(measured(test::uniform_model(), own), ConfigError, says(message));
  };
  refused([](CoherenceOptions& o) { o.sequences = 0; },
          "[eval:coherence] bad_argument: expected coherence-sequences >= 1, got 0");
  refused([](CoherenceOptions& o) { o.prompts = 0; },
          "[eval:coherence] bad_argument: expected prompts >= 1, got 0");
  refused([](CoherenceOptions& o) { o.n_new = 3; },
          "[eval:coherence] bad_argument: expected new-tokens from 4, which 4-grams need, to "
          "4194304, got 3");
  Subject s = test::subject(test::uniform_model(), test::toy_text(4000));
  BOOST_CHECK_EXCEPTION(measure_coherence(s, {}, few()), ConfigError,
                        says("[eval:coherence] bad_argument: expected a training length from 8"));
  s = test::subject(test::uniform_model(), test::toy_text(100));
  s.model.train_len = kTrainLen;
  BOOST_CHECK_EXCEPTION(measure_coherence(s, {}, few()), IoError,
                        says("[eval:coherence] not_enough_data: "));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
