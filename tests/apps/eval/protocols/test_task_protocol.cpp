#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/protocols/task.h"
#include "data/tasks/task.h"
#include "engine/base/error.h"
#include "layers/transformer.h"
#include "tests/support/messages.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_task_protocol)  // ctest: on_cuda
namespace {

constexpr int64_t kSamples = 40;

Transformer untrained(int64_t n_vocab) {
  ModelConfig config{.n_layer = 1,
                     .n_head = 2,
                     .d_model = 8,
                     .d_ff = 16,
                     .vocab_size = n_vocab,
                     .train_len = 16,
                     .init_std = 0.5,
                     .posenc = "alibi"};
  return Transformer(config, 3);
}

ProtocolResult measured(const Transformer& model, const std::string& task,
                        const std::vector<int64_t>& lengths = {}, const std::string& tested = {}) {
  Subject subject = subject_of(model, {}, TokenStream{}, 1);
  subject.model.task = task;
  CommonOptions common;
  common.batch_tokens = 64;
  if (!lengths.empty()) {
    common.lengths = lengths;
    common.are_lengths_given = true;
  }
  return measure_task(subject, common, {.samples = kSamples, .seed = 7, .task = tested});
}

double quantity(const LengthResult& of, const std::string& name) {
  for (const Quantity& one : of.quantities)
    if (one.name == name) return one.value;
  return std::nan("");
}

// Each sample by itself, against the counts of the protocol.
BOOST_AUTO_TEST_CASE(answers_are_counted_as_one_by_one) {
  const Transformer model = untrained(64);
  const std::unique_ptr<const data::Task> task = data::make_task("copy(alphabet=3)");
  const ProtocolResult result = measured(model, "copy(alphabet=3)", {2, 6});
  BOOST_TEST_REQUIRE(result.lengths.size() == 2u);
  for (const LengthResult& of : result.lengths) {
    int n_right = 0, n_whole = 0, n = 0;
    double nats = 0;
    for (int64_t i = 0; i < kSamples; ++i) {
      const data::TaskSample sample = task->sample(7, "test", of.length, i);
      const auto n_token = static_cast<int64_t>(sample.tokens.size());
      const std::vector<int32_t> inputs(sample.tokens.begin(), sample.tokens.end() - 1);
      const std::vector<double> logits =
          model.logits(Tensor::from(inputs, {1, n_token - 1})).to_vector();
      bool is_whole = true;
      for (int64_t t = 1; t < n_token; ++t) {
        if (sample.is_answer[static_cast<size_t>(t)] == 0) continue;
        const double* const row = logits.data() + (t - 1) * 64;
        const auto want = static_cast<size_t>(sample.tokens[static_cast<size_t>(t)]);
        int64_t best = 0;
        double sum = 0;
        for (int64_t v = 0; v < 64; ++v) {
          if (v < 4 && row[v] > row[best]) best = v;  // three symbols and SEP
          sum += std::exp(row[v]);
        }
        nats += std::log(sum) - row[want];
        is_whole = is_whole && best == static_cast<int64_t>(want);
        n_right += best == static_cast<int64_t>(want);
        ++n;
      }
      n_whole += is_whole;
    }
    BOOST_TEST(quantity(of, "answers") == n);
    BOOST_TEST(quantity(of, "accuracy") == static_cast<double>(n_right) / n);
    BOOST_TEST(quantity(of, "wrong_answers") == n - n_right);
    BOOST_TEST(quantity(of, "exact_match") == static_cast<double>(n_whole) / kSamples);
    BOOST_TEST(quantity(of, "bits_per_answer") == nats / n / std::log(2),
               boost::test_tools::tolerance(1e-5));
  }
}

BOOST_AUTO_TEST_CASE(lengths_are_the_tasks_unless_given) {
  const ProtocolResult result = measured(untrained(64), "first");
  std::vector<int64_t> lengths;
  for (const LengthResult& of : result.lengths) lengths.push_back(of.length);
  BOOST_TEST(lengths == (std::vector<int64_t>{24, 64, 128, 256}));
  BOOST_TEST(quantity(result.lengths[0], "answers") == kSamples);
}

BOOST_AUTO_TEST_CASE(the_place_of_the_key_makes_a_series) {
  const ProtocolResult result = measured(untrained(64), "passkey", {64});
  BOOST_TEST_REQUIRE(result.lengths.at(0).series.size() == 1u);
  const Series& by_place = result.lengths[0].series[0];
  BOOST_TEST(by_place.x.size() > 5u);
  for (const double y : by_place.y) BOOST_TEST((y >= 0 && y <= 1));
  BOOST_TEST(measured(untrained(64), "copy", {4}).lengths.at(0).series.empty());
}

BOOST_AUTO_TEST_CASE(distances_of_repeated_tokens_make_a_series) {
  const LengthResult of = measured(untrained(64), "induction", {128}).lengths.at(0);
  BOOST_TEST_REQUIRE(of.series.size() == 1u);
  const Series& by_distance = of.series[0];
  BOOST_TEST(by_distance.name == "accuracy by distance");
  // A mean over the bins by their answers is the accuracy.
  const auto task = data::make_task("induction");
  std::vector<double> n(10);
  for (int64_t i = 0; i < kSamples; ++i) {
    const data::TaskSample sample = task->sample(7, "test", 128, i);
    for (size_t t = 0; t < 128; ++t)
      if (sample.sources[t] >= 0) ++n[(t - static_cast<size_t>(sample.sources[t])) * 10 / 128];
  }
  double right = 0, answers = 0;
  for (size_t i = 0; i < by_distance.x.size(); ++i) {
    const double in_bin = n[static_cast<size_t>(by_distance.x[i] * 10)];
    right += in_bin * by_distance.y[i];
    answers += in_bin;
  }
  BOOST_TEST(answers == quantity(of, "answers"));
  BOOST_TEST(right / answers == quantity(of, "accuracy"), boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(another_task_of_the_same_tokens_can_be_tested) {
  const Transformer model = untrained(64);
  const ProtocolResult sparse = measured(model, "flip_flop", {64}, "flip_flop(p_i=0.98)"),
                       trained = measured(model, "flip_flop(p_i=0.98)", {64});
  BOOST_TEST(sparse.parameters == trained.parameters);
  BOOST_TEST(quantity(sparse.lengths[0], "answers") == quantity(trained.lengths[0], "answers"));
  BOOST_TEST(quantity(sparse.lengths[0], "answers") !=
             quantity(measured(model, "flip_flop", {64}).lengths[0], "answers"));
  // A model that knows EOS is asked for all but that.
  BOOST_TEST(quantity(measured(model, "copy(eos=token)", {4}, "copy").lengths[0], "answers") ==
             4 * kSamples);
  BOOST_CHECK_EXCEPTION(measured(model, "copy", {4}, "copy(eos=token)"), ConfigError,
                        says("--task copy(alphabet=2, eos=token): expected a task of the tokens 0, "
                             "1, SEP, which the model was trained on"));
}

// With the length of the output given: the token that ends it is not asked for.
BOOST_AUTO_TEST_CASE(answers_are_counted_without_the_end_too) {
  const Transformer model = untrained(64);
  const LengthResult with_end = measured(model, "copy(eos=token)", {4}).lengths.at(0),
                     without = measured(model, "copy(eos=token)", {4}, "copy").lengths.at(0);
  BOOST_TEST(quantity(with_end, "answers") == 5 * kSamples);
  BOOST_TEST(quantity(with_end, "accuracy_oracle") != quantity(with_end, "accuracy"));
  // EOS is no answer of the other task, which a model may still give.
  BOOST_TEST(quantity(with_end, "accuracy_oracle") <= quantity(without, "accuracy"));
  BOOST_TEST(quantity(with_end, "exact_match_oracle") <= quantity(without, "exact_match"));
  BOOST_TEST(std::isnan(quantity(without, "accuracy_oracle")));
}

// It would read the answers in its input.
BOOST_AUTO_TEST_CASE(an_encoder_is_not_shown_the_answers) {
  ModelConfig config = untrained(64).config();
  config.posenc = "rope";
  config.sees_later = true;
  const Transformer model(config, 3);
  const auto task = data::make_task("copy");
  const LengthResult of = measured(model, "copy", {5}).lengths.at(0);
  double nats = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    const data::TaskSample sample = task->sample(7, "test", 5, i);
    std::vector<int32_t> inputs(sample.tokens.begin(), sample.tokens.begin() + 6);
    inputs.resize(10, inputs.back());  // SEP
    const std::vector<double> logits = model.logits(Tensor::from(inputs, {1, 10})).to_vector();
    for (int64_t t = 5; t < 10; ++t) {
      double sum = 0;
      for (int64_t v = 0; v < 64; ++v) sum += std::exp(logits[static_cast<size_t>(t * 64 + v)]);
      const int32_t want = sample.tokens[static_cast<size_t>(t + 1)];
      nats += std::log(sum) - logits[static_cast<size_t>(t * 64 + want)];
    }
  }
  BOOST_TEST(quantity(of, "bits_per_answer") == nats / kSamples / 5 / std::log(2),
             boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(a_model_of_text_is_refused) {
  BOOST_CHECK_EXCEPTION(measured(untrained(64), ""), ConfigError,
                        says("expected a run that was trained on a task"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
