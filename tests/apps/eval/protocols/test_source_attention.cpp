#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/protocols/source_attention.h"
#include "layers/transformer.h"
#include "tests/support/messages.h"

namespace farfield::eval {
BOOST_AUTO_TEST_SUITE(test_source_attention)  // ctest: on_cuda
namespace {

constexpr int64_t kSamples = 20, kLayers = 2, kHeads = 2, kGroups = 4;

const Transformer& untrained() {
  static const Transformer model({.n_layer = kLayers,
                                  .n_head = kHeads,
                                  .d_model = 8,
                                  .d_ff = 16,
                                  .vocab_size = 64,
                                  .train_len = 16,
                                  .init_std = 0.5,
                                  .posenc = "alibi"},
                                 3);
  return model;
}

ProtocolResult measured(const std::string& task, const std::vector<int64_t>& lengths,
                        const Transformer& model = untrained()) {
  Subject subject = subject_of(model, {}, TokenStream{}, 1);
  subject.model.task = task;
  CommonOptions common;
  common.batch_tokens = 64;
  common.lengths = lengths;
  common.are_lengths_given = true;
  return measure_source_attention(subject, common, {.samples = kSamples, .seed = 7});
}

double quantity(const LengthResult& of, const std::string& name) {
  for (const Quantity& one : of.quantities)
    if (one.name == name) return one.value;
  return std::nan("");
}

// Each answer by itself. A copy of six symbols has more sources than heads have components.
BOOST_AUTO_TEST_CASE(answers_are_looked_up_as_one_by_one) {
  const auto task = data::make_task("copy(alphabet=3)");
  const LengthResult of = measured("copy(alphabet=3)", {6}).lengths.at(0);
  double heads[kLayers * kHeads] = {}, last = 0, uniform = 0;
  int n = 0, n_last = 0;
  std::vector<double> lasts(kLayers * kHeads);
  for (int64_t i = 0; i < kSamples; ++i) {
    const data::TaskSample sample = task->sample(7, "test", 6, i);
    const std::vector<int32_t> inputs(sample.tokens.begin(), sample.tokens.end() - 1);
    const auto n_input = static_cast<int64_t>(inputs.size());
    for (size_t t = 1; t < sample.tokens.size(); ++t) {
      if (sample.is_answer[t] == 0) continue;
      std::vector<int32_t> groups(inputs.size(), -1);
      groups[t - 7] = 2;  // six symbols and SEP
      ++n;
      const bool is_last = 10 * (t - 1) / inputs.size() == 9;
      n_last += is_last;
      uniform += 1 / static_cast<double>(t);
      const auto layers = untrained().attention_to(Tensor::from(inputs, {1, n_input}), groups);
      for (size_t layer = 0; layer < kLayers; ++layer)
        for (size_t h = 0; h < kHeads; ++h) {
          const double weight = layers[layer].to_vector()[((t - 1) * kHeads + h) * kGroups + 2];
          heads[layer * kHeads + h] += weight;
          if (is_last) lasts[layer * kHeads + h] += weight;
        }
    }
  }
  size_t best = 0;
  double all = 0;
  for (size_t h = 0; h < kLayers * kHeads; ++h) {
    if (heads[h] > heads[best]) best = h;
    all += heads[h];
  }
  last = lasts[best];
  const auto near = boost::test_tools::tolerance(1e-5);
  BOOST_TEST(quantity(of, "answers") == n);
  BOOST_TEST(quantity(of, "best_head") == heads[best] / n, near);
  BOOST_TEST(quantity(of, "mean_head") == all / n / (kLayers * kHeads), near);
  BOOST_TEST(quantity(of, "last_tenth") == last / n_last, near);
  BOOST_TEST(std::isnan(quantity(of, "first_tenth")));  // the input
  BOOST_TEST(quantity(of, "uniform") == uniform / n, near);
  BOOST_TEST(of.notes.at(0) == concat("the best head: layer ", best / 2, ", head ", best % 2));
}

BOOST_AUTO_TEST_CASE(reads_have_places_everywhere) {
  const LengthResult of = measured("flip_flop(p_i=0.2)", {64}).lengths.at(0);
  for (const char* name : {"first_tenth", "last_tenth", "best_head"})
    BOOST_TEST((quantity(of, name) > 0 && quantity(of, name) < 1), name);
  BOOST_TEST(of.series.at(0).x.size() == 10u);
}

BOOST_AUTO_TEST_CASE(an_encoder_may_look_at_all_tokens) {
  ModelConfig config = untrained().config();
  config.posenc = "rope";
  config.sees_later = true;
  const LengthResult of = measured("copy", {6}, Transformer(config, 3)).lengths.at(0);
  BOOST_TEST(quantity(of, "uniform") == 1 / 12.0, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_task_without_sources_is_refused) {
  BOOST_CHECK_EXCEPTION(
      measured("parity", {4}), ConfigError,
      says("expected a task whose answers repeat a token of the input, such as copy, first, "
           "flip_flop, induction, passkey or recall, got parity("));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::eval
