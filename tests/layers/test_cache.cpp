#include <boost/test/unit_test.hpp>
#include <map>

#include "engine/autograd.h"
#include "engine/ops/view.h"
#include "posenc/registry.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_cache)  // ctest: on_cuda
namespace {

constexpr int64_t kLength = 30;

ModelConfig config_of(const std::string& posenc) {
  ModelConfig config = tiny_config(posenc);
  config.n_layer = 3;
  return config;
}

// A model with the same weights and a window more, whatever the cache does.
Transformer masked(const Transformer& model, int64_t w, DType dtype) {
  Transformer other(config_of(concat(model.encoding().canonical(), " + window(", w, ")")), 1,
                    dtype);
  std::map<std::string, Tensor> values;
  for (const Parameter& p : model.parameters()) values.emplace(p.name, p.value);
  load_parameters(other.parameters(), values);
  return other;
}

Tensor logits_of(const Transformer& model, const Tensor& ids) {
  const NoGrad no_grad;
  return model.logits(ids);
}

// Fed in pieces of these sizes, in turn; the logits of every position.
Tensor fed(const Transformer& model, const Tensor& ids, KeyValueCache& cache,
           const std::vector<int64_t>& sizes) {
  const NoGrad no_grad;
  std::vector<Tensor> pieces;
  for (size_t i = 0; cache.n_seen() < ids.dim(1); ++i) {
    const int64_t first = cache.n_seen();
    const int64_t end = std::min(ids.dim(1), first + sizes[i % sizes.size()]);
    pieces.push_back(
        model.next_logits(model.extend(slice(ids, 1, first, end), cache, end - first)));
  }
  return concat(pieces, 1);
}

const std::vector<std::vector<int64_t>> kSizes = {{1}, {30}, {3, 1, 7}, {6, 1, 1, 1}};

// Relative encodings run from the cache; for the others it says why not.
BOOST_AUTO_TEST_CASE(a_cache_with_a_limit_is_the_whole_pass_with_a_window_or_refused) {
  std::vector<std::string> expressions{"rope@0 + kerple_log@1..2",
                                       "alibi + log_n(mode=clipped)",
                                       "rope + window(8)@1",
                                       "xpos + sandwich + relu_attention(by=seqlen)",
                                       "linear_attention + gauss_wht1",
                                       "only_distances([0, 2, 9]) + rope"};
  for (const posenc::Row& row : posenc::registry()) expressions.push_back(example_of(row));
  const Tensor ids = random_ids({2, kLength}, 1, 13);
  const std::map<std::string, std::string> why_not = {
      {"sinusoidal", "[cache] expected positions that count from the query, got 'sinusoidal', "},
      {"linear_abs",
       "[cache] expected positions that count from the query, got 'linear_abs(scale=9)', "},
      {"learned_abs", "[posenc] expected positions below the 9 rows of learned_abs, "},
      {"landmark(block=3)", "[posenc] expected no window(w=4) beside landmark(block=3): "},
      // A narrower window hides what the two branches are about.
      {"lm_infinite", "[posenc] expected a window of at least the 9 near tokens of the term"},
      {"streaming", "[posenc] expected a window of at least the 5 near tokens of the term"},
  };
  for (const std::string& posenc : expressions) {
    const Transformer model(config_of(posenc), 1, DType::f64);
    shake(model);
    const int64_t w = 4;
    const std::string obstacle = model.cache_obstacle(kLength, w);
    const auto expected = why_not.find(posenc);
    BOOST_TEST(obstacle.empty() == (expected == why_not.end()), posenc << ": " << obstacle);
    if (!obstacle.empty()) {
      if (expected != why_not.end()) BOOST_TEST(obstacle.rfind(expected->second, 0) == 0, obstacle);
      BOOST_TEST(message_of<ConfigError>([&] { model.make_cache(2, kLength, w); }) == obstacle);
      continue;
    }
    const Tensor want = logits_of(masked(model, w, DType::f64), ids);
    KeyValueCache cache = model.make_cache(2, kLength, w);
    for (const auto& sizes : kSizes) {
      cache.reset();
      BOOST_TEST(all_close(fed(model, ids, cache, sizes), want, Tolerance(1e-11)),
                 posenc << " in pieces of " << sizes[0]);
    }
  }
}

// Without a limit each layer keeps what its own mask asks for: sinks and far pairs too.
BOOST_AUTO_TEST_CASE(a_cache_without_a_limit_is_the_whole_pass) {
  std::vector<std::string> expressions{"window(3, sinks=2) + alibi",
                                       "window(5, sinks=7) + rope + t5",
                                       "window(3, sinks=2) + fire@0 + randomized@1",
                                       "streaming + kerple_log",
                                       "lm_infinite + gauss_wht1",
                                       "self_extend(group=3) + kerple_log",
                                       "self_extend(group=4, shift=real) + window(6) + bias_wht",
                                       "window(3, sinks=2) + relu_attention(by=seqlen)",
                                       "window(3, sinks=2) + linear_attention",
                                       "only_distances([0, 11]) + window(12) + alibi",
                                       "landmark(4) + rope + kerple_log",
                                       "landmark(5)@1 + window(6)@0 + block_repeat + alibi",
                                       "window(3, sinks=2) + block_repeat + kerple_log",
                                       "window(4) + fire",
                                       "sinusoidal + window(4)"};
  for (const posenc::Row& row : posenc::registry()) expressions.push_back(example_of(row));
  const Tensor ids = random_ids({2, kLength}, 1, 13);
  for (const std::string& posenc : expressions) {
    const Transformer model(config_of(posenc), 1, DType::f64);
    shake(model);
    const std::string obstacle = model.cache_obstacle(kLength);
    const bool has_sinks_and_row_bias = posenc.find("fire@0") != std::string::npos;
    const bool is_refused = posenc == "learned_abs" || has_sinks_and_row_bias;
    BOOST_TEST(obstacle.empty() == !is_refused, posenc << ": " << obstacle);
    if (has_sinks_and_row_bias)
      BOOST_TEST(obstacle.rfind("[cache] expected a row-dependent bias without sinks", 0) == 0,
                 obstacle);
    if (!obstacle.empty()) continue;
    const Tensor want = logits_of(model, ids);
    KeyValueCache cache = model.make_cache(2, kLength);
    for (const auto& sizes : kSizes) {
      cache.reset();
      BOOST_TEST(all_close(fed(model, ids, cache, sizes), want, Tolerance(1e-11)),
                 posenc << " in pieces of " << sizes[0]);
    }
  }
}

BOOST_AUTO_TEST_CASE(float32_agrees_to_four_digits_and_bfloat16_runs) {
  const Tensor ids = random_ids({2, kLength}, 1, 13);
  for (const char* posenc : {"rope", "alibi", "kerple_log", "t5", "fire", "xpos"}) {
    const Transformer model(config_of(posenc), 1);
    shake(model);
    const Tensor want = logits_of(masked(model, 7, DType::f32), ids);
    KeyValueCache cache = model.make_cache(2, kLength, 7);
    BOOST_TEST(all_close(fed(model, ids, cache, {1}), want, Tolerance(2e-5, 1e-4)), posenc);
  }
  const Transformer model(config_of("rope"), 1, DType::bf16);
  KeyValueCache cache = model.make_cache(2, kLength, 7);
  BOOST_TEST(fed(model, ids, cache, {1}).dtype() == DType::f32);
  BOOST_TEST(cache.size_bytes() == 2 * 3 * 7 * 8 * 2 * 2);
}

BOOST_AUTO_TEST_CASE(a_limit_beyond_the_length_is_none) {
  const Tensor ids = random_ids({1, kLength}, 1, 13);
  for (const char* posenc : {"rope", "sinusoidal", "streaming"}) {
    const Transformer model(config_of(posenc), 1);
    shake(model);
    KeyValueCache all = model.make_cache(1, kLength);
    KeyValueCache limited = model.make_cache(1, kLength, kLength);
    BOOST_TEST(same_bits(fed(model, ids, all, {1}), fed(model, ids, limited, {1})), posenc);
  }
}

BOOST_AUTO_TEST_CASE(the_draw_of_the_cache_is_that_of_the_pass) {
  const Tensor ids = random_ids({2, kLength}, 1, 13), targets = random_ids({2, kLength}, 2, 13);
  const Transformer model(config_of("randomized + rope"), 1, DType::f64);
  shake(model);
  std::vector<std::vector<double>> of_draw;
  for (const uint64_t draw : {5, 6}) {
    KeyValueCache cache = model.make_cache(2, kLength, 0, draw);
    const Tensor nll = model.next_nll(model.extend(ids, cache, kLength), targets);
    BOOST_TEST(all_close(nll, model.nll(ids, targets, draw), Tolerance(1e-11)));
    of_draw.push_back(nll.to_vector());
  }
  BOOST_TEST(of_draw[0] != of_draw[1]);
}

BOOST_AUTO_TEST_CASE(only_the_last_rows_come_out_and_nothing_else_changes) {
  const Transformer model(config_of("rope + kerple_log"), 1, DType::f64);
  shake(model);
  const Tensor ids = random_ids({2, kLength}, 1, 13);
  KeyValueCache cache = model.make_cache(2, kLength, 5);
  const Tensor all = model.extend(slice(ids, 1, 0, 20), cache, 20);
  const Tensor next = model.extend(slice(ids, 1, 20, 30), cache, 10);
  cache.reset();
  const Tensor last = model.extend(slice(ids, 1, 0, 20), cache);
  BOOST_TEST(last.shape() == Shape({2, 1, 8}));
  BOOST_TEST(!last.needs_grad());
  BOOST_TEST(all_close(last, slice(all, 1, 19, 20), Tolerance(1e-13)));
  BOOST_TEST(
      all_close(model.extend(slice(ids, 1, 20, 30), cache, 3), slice(next, 1, 7, 10), 1e-13));
}

BOOST_AUTO_TEST_CASE(last_logits_are_the_last_row_of_logits) {
  const Transformer model(config_of("rope"), 1, DType::f64);
  shake(model);
  const Tensor ids = random_ids({2, 9}, 1, 13);
  const Tensor last = model.last_logits(ids);
  BOOST_TEST(last.shape() == Shape({2, 13}));
  BOOST_TEST(all_close(last, slice(logits_of(model, ids), 1, 8, 9).view({2, 13}), 1e-13));
}

// 2 n_layer w d_model numbers a sequence, and sum over t of min(t, w) scores.
BOOST_AUTO_TEST_CASE(memory_is_constant_once_the_window_is_full_and_scores_are_counted) {
  const Transformer model(config_of("alibi"), 1, DType::f64);
  const int64_t w = 5, full = 2 * 3 * w * 8 * 3 * 8;
  KeyValueCache cache = model.make_cache(3, kLength, w);
  const Tensor ids = random_ids({3, kLength}, 1, 13);
  for (const auto& [end, scores] : std::vector<std::pair<int64_t, int64_t>>{
           {3, 6}, {5, 15}, {6, 20}, {7, 25}, {20, 90}, {30, 140}}) {
    model.extend(slice(ids, 1, cache.n_seen(), end), cache);
    BOOST_TEST(cache.n_seen() == end);
    BOOST_TEST(cache.size_bytes() == full * std::min(end, w) / w);
    for (const CachedLayer& layer : cache.layers()) BOOST_TEST(layer.n_scores() == scores);
  }
  cache.reset();
  BOOST_TEST(cache.size_bytes() == 0);
  BOOST_TEST(cache.n_seen() == 0);
  KeyValueCache all = model.make_cache(3, kLength);
  model.extend(ids, all);
  BOOST_TEST(all.layers()[0].n_scores() == kLength * (kLength + 1) / 2);
  KeyValueCache far = Transformer(config_of("rerope"), 1).make_cache(1, kLength, w);
  Transformer(config_of("rerope"), 1).extend(random_ids({1, kLength}, 1, 13), far);
  BOOST_TEST(far.size_bytes() == 3 * 3 * w * 8 * 4);
}

// One head and one sequence: there a slice would share the storage of all keys.
BOOST_AUTO_TEST_CASE(dropped_keys_free_their_memory) {
  ModelConfig config = config_of("alibi");
  config.n_head = 1;
  const Transformer model(config, 1);
  const int64_t seq_len = 5000;
  KeyValueCache cache = model.make_cache(1, seq_len, 4);
  const int64_t before = memory_stats(Device{}).current_bytes;
  model.extend(random_ids({1, seq_len}, 1, 13), cache);
  BOOST_TEST(memory_stats(Device{}).current_bytes - before < 8192);
  BOOST_TEST(cache.size_bytes() == 2 * 3 * 4 * 8 * 4);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Transformer model(config_of("alibi"), 1);
  KeyValueCache cache = model.make_cache(2, 6, 3);
  model.extend(random_ids({2, 4}, 1, 13), cache);
  const auto message = [&](const Tensor& ids, int64_t n_row) {
    return message_of<ShapeError>([&] { model.extend(ids, cache, n_row); });
  };
  BOOST_TEST(message(random_ids({2, 3}, 1, 13), 1) ==
             "[extend] expected ids of 2 sequences and at most 2 of their 6 tokens, got [2, 3]");
  BOOST_TEST(message(random_ids({1, 1}, 1, 13), 1) ==
             "[extend] expected ids of 2 sequences and at most 2 of their 6 tokens, got [1, 1]");
  BOOST_TEST(message(random_ids({2, 2}, 1, 13), 3) == "[extend] expected n_row from 1 to 2, got 3");
  BOOST_TEST(message(random_ids({2, 2}, 1, 13), 0) == "[extend] expected n_row from 1 to 2, got 0");
  BOOST_TEST(message_of<ShapeError>([&] {
               model.extend(Tensor::full({2, 1}, 13, DType::i32), cache);
             }).rfind("[embedding] expected ids from 0 to 12, got 13", 0) == 0);
  BOOST_TEST(cache.n_seen() == 4);
  BOOST_TEST(message_of<ConfigError>([&] { model.make_cache(2, 6, -1); }) ==
             "[cache] expected n_cached of 0 (all) or more, got -1");
  BOOST_TEST(message_of<ConfigError>([&] { model.make_cache(0, 6); }) ==
             "[cache] expected at least one sequence of at least one token, got 0 of 6");
  const auto fresh = [](uint64_t seed) {
    return random_tensor({2, 2, 1, 4}, seed, -1, 1, DType::f32);
  };
  Heads heads{fresh(1), fresh(2), fresh(3)};
  cache.layers()[0].append(heads);  // as a call does that fails behind the first block
  BOOST_TEST(message(random_ids({2, 1}, 1, 13), 1) ==
             "[extend] expected a cache of this model that no call has left half done; reset() it");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
