#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "engine/autograd.h"
#include "layers/generate.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_generate)  // ctest: on_cuda:slow
namespace {

using Tokens = std::vector<int32_t>;

Tensor prompts_of(const std::vector<Tokens>& rows) {
  Tokens all;
  for (const Tokens& row : rows) all.insert(all.end(), row.begin(), row.end());
  return Tensor::from(all,
                      {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())});
}

Tensor& parameter(std::vector<Parameter>& parameters, const std::string& name) {
  return std::find_if(parameters.begin(), parameters.end(),
                      [&](const Parameter& p) { return p.name == name; })
      ->value;
}

// A model that counts: its blocks write nothing, and row v + 1 of the head is what the norm makes
// of the embedding of v, whose product with itself is larger than with any other.
Transformer counting_model() {
  Transformer model(tiny_config("rope"), 1);
  shake(model);
  std::vector<Parameter> all = model.parameters();
  for (Parameter& p : all) {
    const bool writes = p.name.find("attention.dense.") != std::string::npos ||
                        p.name.find("dense_4h_to_h.") != std::string::npos;
    if (writes) std::fill_n(p.value.data<float>(), p.value.numel(), 0.F);
    if (p.name.rfind("gpt_neox.final_layer_norm", 0) == 0)
      std::fill_n(p.value.data<float>(), 8, p.name.ends_with("weight") ? 1.F : 0.F);
  }
  const Tensor embedding = parameter(all, "gpt_neox.embed_in.weight");
  Tensor& head = parameter(all, "embed_out.weight");
  for (int64_t v = 0; v < 13; ++v) {
    const float* const e = embedding.data<float>() + v * 8;
    double mean = 0, square = 0;
    for (int i = 0; i < 8; ++i) mean += e[i] / 8.0;
    for (int i = 0; i < 8; ++i) square += (e[i] - mean) * (e[i] - mean) / 8;
    for (int i = 0; i < 8; ++i)
      head.data<float>()[(v + 1) % 13 * 8 + i] =
          static_cast<float>((e[i] - mean) / std::sqrt(square));
  }
  return model;
}

Tensor continued_logits(const Transformer& model, const Tensor& ids) {
  const NoGrad no_grad;
  KeyValueCache cache = model.make_cache(ids.dim(0), ids.dim(1));
  return model.next_logits(model.extend(ids, cache, ids.dim(1)));
}

// Norms and biases stay as they are; matrices in bfloat16 are rounded as products round them.
BOOST_AUTO_TEST_CASE(packed_weights_give_the_same_scores) {
  const Tensor ids = random_ids({2, 9}, 1, 13);
  ModelConfig tied = tiny_config("rope");
  tied.ties_embedding = true;
  ModelConfig gated = tiny_config("rope");
  gated.activation = MlpActivation::swiglu;
  for (const ModelConfig& config : {tiny_config("kerple_log"), tied, gated})
    for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
      Transformer model(config, 1, dtype);
      const Tensor want = continued_logits(model, ids);
      model.pack_weights();
      const Tensor got = continued_logits(model, ids);
      if (dtype == DType::bf16)
        BOOST_TEST(all_close(got, want, Tolerance(2e-2)));
      else
        BOOST_TEST(same_bits(got, want), dtype);
      BOOST_TEST(got.dtype() == want.dtype());
      for (const Parameter& p : model.parameters())
        if (p.value.rank() == 2 && p.decay) BOOST_TEST(p.value.dtype() == dtype, p.name);
    }
}

BOOST_AUTO_TEST_CASE(a_model_to_load_is_the_model_once_loaded) {
  const ModelConfig config = tiny_config("kerple_log");
  const Transformer model(config, 1);
  std::map<std::string, Tensor> values;
  for (const Parameter& p : model.parameters()) values.emplace(p.name, p.value);
  const Transformer loaded = Transformer::to_load(config, 7, DType::f32, {});
  load_parameters(loaded.parameters(), values);
  const Tensor ids = random_ids({2, 9}, 1, 13);
  BOOST_TEST(same_bits(continued_logits(loaded, ids), continued_logits(model, ids)));
}

int32_t top_of_last(const Transformer& model, const Tokens& ids) {
  const NoGrad no_grad;
  const std::vector<double> all = model.logits(prompts_of({ids})).to_vector();
  return static_cast<int32_t>(std::max_element(all.end() - 13, all.end()) - (all.end() - 13));
}

BOOST_AUTO_TEST_CASE(a_model_that_counts_goes_on_counting) {
  const Generated got =
      generate(counting_model(), prompts_of({{4, 5, 6}, {1, 0, 9}}), {.n_new = 6, .n_context = 2});
  BOOST_TEST(got.uncached.empty());
  BOOST_TEST(got.tokens[0] == Tokens({7, 8, 9, 10, 11, 12}));
  BOOST_TEST(got.tokens[1] == Tokens({10, 11, 12, 0, 1, 2}));
}

// Greedy tokens equal the tokens of whole passes under the window, one pass for each token.
BOOST_AUTO_TEST_CASE(a_context_is_a_window_over_the_whole_sequence) {
  for (const char* posenc : {"rope", "alibi", "kerple_log"}) {
    const Transformer model(tiny_config(posenc), 1);
    shake(model);
    for (const int64_t n_context : {0, 3}) {
      Transformer masked(tiny_config(concat(posenc, n_context > 0 ? " + window(3)" : "")), 1);
      std::map<std::string, Tensor> values;
      for (const Parameter& p : model.parameters()) values.emplace(p.name, p.value);
      load_parameters(masked.parameters(), values);
      Tokens ids{2, 7, 1, 12, 5};
      const Generated got =
          generate(model, prompts_of({ids}), {.n_new = 12, .n_context = n_context});
      BOOST_TEST(got.uncached.empty());
      for (int i = 0; i < 12; ++i) ids.push_back(top_of_last(masked, ids));
      BOOST_TEST(got.tokens[0] == Tokens(ids.begin() + 5, ids.end()), posenc << ' ' << n_context);
    }
  }
}

// The first tokens stay in the cache, at their old positions.
BOOST_AUTO_TEST_CASE(sinks_stay_beside_the_context) {
  for (const char* posenc : {"rope", "alibi", "kerple_log"}) {
    const Transformer model(tiny_config(posenc), 1);
    shake(model, 1);
    Transformer masked(tiny_config(concat(posenc, " + window(3, sinks=2)")), 1);
    std::map<std::string, Tensor> values;
    for (const Parameter& p : model.parameters()) values.emplace(p.name, p.value);
    load_parameters(masked.parameters(), values);
    const std::vector<Tokens> prompts{{2, 7, 1, 12, 5, 5, 0}, {9, 8, 1, 4, 5, 5, 2}};
    GenerateOptions options{.n_new = 40, .n_context = 3, .temperature = 1, .seed = 3, .n_sink = 2};
    const Generated got = generate(model, prompts_of(prompts), options);
    BOOST_TEST(got.uncached.empty());
    options.n_sink = 0;
    BOOST_TEST(got.tokens != generate(model, prompts_of(prompts), options).tokens, posenc);
    const Generated greedy =
        generate(model, prompts_of(prompts), {.n_new = 12, .n_context = 3, .n_sink = 2});
    for (size_t b = 0; b < prompts.size(); ++b) {
      Tokens ids = prompts[b];
      for (int i = 0; i < 12; ++i) ids.push_back(top_of_last(masked, ids));
      BOOST_TEST(greedy.tokens[b] == Tokens(ids.begin() + 7, ids.end()), posenc);
    }
  }
  BOOST_CHECK_EXCEPTION(
      generate(Transformer(tiny_config("sinusoidal"), 1), prompts_of({{2, 7}}),
               {.n_new = 6, .n_context = 3, .n_sink = 1}),
      ConfigError,
      says("[generate] expected no sinks where no cache serves a context of 3: [cache] expected "
           "positions that count from the query, got 'sinusoidal"));
}

// Beyond its table and beyond the context: the last tokens count from position 0 again.
BOOST_AUTO_TEST_CASE(absolute_positions_are_encoded_again_for_each_token) {
  for (const char* posenc : {"sinusoidal", "learned_abs"}) {
    const Transformer model(tiny_config(posenc), 1);
    shake(model);
    for (Tokens ids : {Tokens{2, 7}, Tokens{2, 7, 1, 12, 5, 6}}) {
      const size_t n_prompt = ids.size();
      const Generated got = generate(model, prompts_of({ids}), {.n_new = 12, .n_context = 4});
      BOOST_TEST(got.uncached == model.cache_obstacle(static_cast<int64_t>(n_prompt) + 11, 4));
      BOOST_TEST(!got.uncached.empty());
      for (int i = 0; i < 12; ++i)
        ids.push_back(
            top_of_last(model, Tokens(ids.end() - std::min<long>(4, std::ssize(ids)), ids.end())));
      BOOST_TEST(got.tokens[0] == Tokens(ids.begin() + static_cast<long>(n_prompt), ids.end()),
                 posenc);
    }
  }
  const Transformer model(tiny_config("learned_abs"), 1);
  BOOST_TEST(generate(model, prompts_of({{2, 7}}), {.n_new = 8}).uncached.empty());
  BOOST_CHECK_EXCEPTION(generate(model, prompts_of({{2, 7}}), {.n_new = 9}), ConfigError,
                        says("[posenc] expected positions below the 9 rows of learned_abs"));
}

BOOST_AUTO_TEST_CASE(samples_are_as_frequent_as_the_model_says) {
  const Transformer model(tiny_config("alibi"), 1);
  shake(model, 1);
  const size_t n = 1000;
  const double temperature = 0.8;
  const Generated got = generate(model, prompts_of(std::vector<Tokens>(n, {3, 1})),
                                 {.temperature = temperature, .seed = 5});
  std::vector<double> count(13), z;
  for (const Tokens& row : got.tokens) ++count[static_cast<size_t>(row[0])];
  const NoGrad no_grad;
  const std::vector<double> all = model.logits(prompts_of({{3, 1}})).to_vector();
  double sum = 0;
  for (size_t v = 0; v < 13; ++v) sum += std::exp(all[13 + v] / temperature);
  for (size_t v = 0; v < 13; ++v) {
    const double p = std::exp(all[13 + v] / temperature) / sum;
    const auto mean = static_cast<double>(n) * p;
    BOOST_TEST(std::abs(count[v] - mean) < 4 * std::sqrt(mean * (1 - p)) + 1,
               "token " << v << ": " << count[v] << " of " << mean);
  }
}

BOOST_AUTO_TEST_CASE(each_position_has_a_number_of_its_own) {
  const Transformer model(tiny_config("alibi"), 1);
  std::vector<Parameter> all = model.parameters();
  Tensor& head = parameter(all, "embed_out.weight");
  std::fill_n(head.data<float>(), head.numel(), 0.F);  // all tokens are as likely
  std::vector<double> count(13);
  const Generated got =
      generate(model, prompts_of({{3}}), {.n_new = 650, .n_context = 4, .temperature = 1});
  for (const int32_t id : got.tokens[0]) ++count[static_cast<size_t>(id)];
  for (const double n : count) BOOST_TEST(std::abs(n - 50) < 4 * std::sqrt(50 * 12 / 13.0));
  BOOST_TEST(generate(model, prompts_of({{3}}), {.n_new = 3}).tokens[0] == Tokens({0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_sample_depends_on_seed_sequence_and_position_alone) {
  const Transformer model(tiny_config("rope"), 1, DType::f64);
  shake(model);
  const std::vector<Tokens> rows{{2, 7, 1}, {2, 7, 1}, {9, 4, 3}};
  GenerateOptions options{.n_new = 9, .n_context = 4, .temperature = 1, .seed = 3};
  const Generated all = generate(model, prompts_of(rows), options);
  BOOST_TEST(all.tokens[0] != all.tokens[1]);
  for (size_t b = 0; b < rows.size(); ++b) {
    options.first_sequence = b;
    options.n_new = 9;
    BOOST_TEST(generate(model, prompts_of({rows[b]}), options).tokens[0] == all.tokens[b]);
    Tokens longer = rows[b];  // four of the tokens are part of the prompt now
    longer.insert(longer.end(), all.tokens[b].begin(), all.tokens[b].begin() + 4);
    options.n_new = 5;
    BOOST_TEST(generate(model, prompts_of({longer}), options).tokens[0] ==
               Tokens(all.tokens[b].begin() + 4, all.tokens[b].end()));
  }
  options = {.n_new = 9, .n_context = 4, .temperature = 1, .seed = 4};
  BOOST_TEST(generate(model, prompts_of(rows), options).tokens != all.tokens);
}

BOOST_AUTO_TEST_CASE(equal_prompts_are_read_once) {
  const Tokens prompt{2, 7, 1, 3, 9, 4};
  for (const char* posenc :
       {"rope", "alibi + window(w=3)", "self_extend(window=4)", "streaming", "sinusoidal"})
    for (const int64_t context : {0, 4}) {
      const Transformer model(tiny_config(posenc), 1, DType::f64);
      shake(model);
      GenerateOptions options{.n_new = 9, .n_context = context, .temperature = 1, .seed = 3};
      options.filters.repetition_penalty = 1.2;
      const Generated all = generate(model, prompts_of({prompt, prompt, prompt}), options);
      BOOST_TEST(all.n_prompt_read == (all.uncached.empty() ? 1 : 3), posenc);
      for (size_t b = 0; b < 3; ++b) {
        options.first_sequence = b;
        BOOST_TEST(generate(model, prompts_of({prompt}), options).tokens[0] == all.tokens[b],
                   posenc << ", sequence " << b);
      }
    }
  const auto n_read = [](const char* posenc, const std::vector<Tokens>& rows, int64_t context) {
    const Transformer model(tiny_config(posenc), 1, DType::f64);
    return generate(model, prompts_of(rows), {.n_new = 2, .n_context = context}).n_prompt_read;
  };
  BOOST_TEST(n_read("rope", {{1, 2}, {1, 3}}, 0) == 2);
  BOOST_TEST(n_read("sinusoidal", {{1, 2}, {1, 2}}, 2) == 2);  // passes without a cache
  BOOST_TEST(n_read("rope + randomized(max_positions=64)", {{1, 2}, {1, 2}}, 0) == 2);
}

BOOST_AUTO_TEST_CASE(a_callback_sees_each_token_and_may_stop) {
  std::vector<Tokens> seen;
  const Generated got = generate(counting_model(), prompts_of({{3}, {8}}),
                                 {.n_new = 9, .on_tokens = [&](std::span<const int32_t> next) {
                                    seen.emplace_back(next.begin(), next.end());
                                    return seen.size() < 3;
                                  }});
  BOOST_TEST((seen == std::vector<Tokens>{{4, 9}, {5, 10}, {6, 11}}));
  BOOST_TEST(got.tokens[0] == Tokens({4, 5, 6}));
  BOOST_TEST(got.tokens[1] == Tokens({9, 10, 11}));
}

BOOST_AUTO_TEST_CASE(rows_of_the_head_that_pad_it_are_not_chosen) {
  const Transformer model = counting_model();
  const Tokens got =
      generate(model, prompts_of({{3}}), {.n_new = 20, .temperature = 1, .n_token = 5}).tokens[0];
  for (const int32_t id : got) BOOST_TEST(id < 5);
  BOOST_TEST(generate(model, prompts_of({{3}}), {.n_token = 5}).tokens[0] == Tokens({4}));
}

// Each token that was there is as unlikely as can be, so a model of 13 tokens says each once.
BOOST_AUTO_TEST_CASE(a_penalty_is_of_the_prompt_and_of_all_new_tokens) {
  const Transformer model(tiny_config("rope"), 1);
  shake(model);
  GenerateOptions options{.n_new = 10, .n_context = 2};
  options.filters.repetition_penalty = 1e30;
  const Generated got = generate(model, prompts_of({{3, 4, 5}, {5, 12, 0}}), options);
  for (const Tokens& row : got.tokens) {
    const Tokens prompt = &row == &got.tokens[0] ? Tokens{3, 4, 5} : Tokens{5, 12, 0};
    // A token that was there scores 0 or far below, so the best of the others scores above 0 but
    // in the last steps, which have few others.
    for (size_t i = 0; i < 6; ++i) {
      BOOST_TEST(std::count(prompt.begin(), prompt.end(), row[i]) == 0);
      BOOST_TEST(std::count(row.begin(), row.begin() + static_cast<long>(i), row[i]) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(filters_leave_tokens_out) {
  const Transformer model(tiny_config("alibi"), 1);
  shake(model);
  const Tensor prompts = prompts_of({{3, 4}, {0, 1}});
  GenerateOptions options{.n_new = 40, .n_context = 3, .temperature = 2, .seed = 7};
  const Generated all = generate(model, prompts, options);
  const Generated greedy = generate(model, prompts, {.n_new = 40, .n_context = 3});
  options.filters.top_k = 13;  // all
  BOOST_TEST(generate(model, prompts, options).tokens == all.tokens);
  for (const SamplingFilters& one :
       {SamplingFilters{.top_k = 1}, SamplingFilters{.top_p = 1e-9}, SamplingFilters{.min_p = 1}}) {
    options.filters = one;
    BOOST_TEST(generate(model, prompts, options).tokens == greedy.tokens);
  }
  BOOST_TEST(all.tokens != greedy.tokens);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_done_is_refused) {
  const Transformer model = counting_model();
  const auto message = [&](const GenerateOptions& options) {
    return message_of<ConfigError>([&] { generate(model, prompts_of({{3}}), options); });
  };
  BOOST_TEST(message({.n_new = 0}) == "[generate] expected at least one new token, got 0");
  BOOST_TEST(message({.n_context = -1}) ==
             "[generate] expected a context of 0 (all) or more tokens, got -1");
  BOOST_TEST(message({.temperature = -1}) ==
             "[generate] expected a finite temperature of 0 (the most likely token) or more, got "
             "-1");
  BOOST_TEST(
      message({.n_sink = 1}) ==
      "[generate] expected no sinks (0), or some beside a context, got 1 beside a context of "
      "0");
  BOOST_TEST(message({.filters = {.top_p = 0}}) ==
             "[generate] expected a top-p above 0 and up to 1 (all), got 0");
  BOOST_TEST(message({.n_token = 14}) ==
             "[generate] expected n_token from 0 (all) to the 13 ids of the model, got 14");
  BOOST_TEST(message_of<ShapeError>([&] {
               generate(model, Tensor::full({3}, 1, DType::i32), {});
             }) == "[generate] expected prompts of shape [batch_size, seq_len], got [3]");
  std::vector<Parameter> all = model.parameters();
  parameter(all, "embed_out.weight").data<float>()[0] = NAN;
  BOOST_CHECK_EXCEPTION(generate(model, prompts_of({{3, 4}}), {}), Error,
                        says("[generate] nonfinite_logits: expected finite scores at position 2 of "
                             "sequence 0, got "));
  // The number of a row, not its place in the batch.
  BOOST_CHECK_EXCEPTION(
      generate(model, prompts_of({{3, 4}}), {.first_sequence = 7}), NonfiniteLogits,
      [](const NonfiniteLogits& error) {
        return error.position == 2 && error.sequence == 7 && !std::isfinite(error.score) &&
               std::string(error.what()).find("of sequence 7, got ") != std::string::npos;
      });
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
