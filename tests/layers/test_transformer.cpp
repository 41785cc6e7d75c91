#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "engine/autograd.h"
#include "engine/optim.h"
#include "layers/transformer.h"
#include "posenc/registry.h"
#include "tests/layers/model_families.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"
#include "tests/support/golden.h"
#include "tests/support/messages.h"
#include "tests/support/on_cuda.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_transformer)  // ctest: on_cuda:slow
namespace {

Tensor ids_by(int64_t batch_size, int64_t seq_len, int32_t (*f)(int32_t b, int32_t t)) {
  std::vector<int32_t> ids;
  for (int32_t b = 0; b < batch_size; ++b)
    for (int32_t t = 0; t < seq_len; ++t) ids.push_back(f(b, t));
  return Tensor::from(ids, {batch_size, seq_len});
}

// An independent program's logits, loss and gradients: erf GELU, rows of QKV grouped by head, the
// scale of scores, eps, pre-norm, no bias in the head.
BOOST_AUTO_TEST_CASE(logits_loss_and_gradients_are_those_of_the_reference) {
  const auto& golden = test::golden("transformer_tiny.json");
  const int64_t batch_size = golden["batch_size"], seq_len = golden["seq_len"];
  const Tensor ids = ids_by(batch_size, seq_len,
                            [](int32_t b, int32_t t) { return (7 * t * t + 3 * b + t) % 11; });
  const Tensor targets =
      ids_by(batch_size, seq_len, [](int32_t b, int32_t t) { return (5 * t + 2 * b + 1) % 11; });
  for (const auto& expected : golden["cases"]) {
    Transformer model({.n_layer = golden["n_layer"],
                       .n_head = golden["n_head"],
                       .d_model = golden["d_model"],
                       .d_ff = golden["d_ff"],
                       .vocab_size = golden["vocab_size"],
                       .train_len = seq_len,
                       .posenc = expected["posenc"]},
                      1, DType::f64);
    std::vector<Parameter> parameters = model.parameters();
    for (size_t k = 0; k < parameters.size(); ++k) {
      Tensor& value = parameters[k].value;
      const double base = parameters[k].name.ends_with("norm.weight") ? 1 : 0;
      for (int64_t i = 0; i < value.numel(); ++i)
        value.data<double>()[i] =
            base + 0.5 * std::sin(1.7 * static_cast<double>(i) + 0.9 * static_cast<double>(k));
    }
    {
      const NoGrad no_grad;
      BOOST_TEST(all_close(model.logits(ids).to_vector(), test::golden_numbers(expected["logits"]),
                           Tolerance(1e-12)));
    }
    const Tensor loss = model.loss(ids, targets);
    BOOST_TEST(std::abs(loss.item() - expected["loss"].get<double>()) < 1e-13);
    backward(loss);
    BOOST_TEST(parameters.size() == expected["gradients"].size());
    for (const Parameter& p : parameters) {
      const std::vector<double> gradient = p.value.grad().to_vector();
      double sum = 0;
      for (size_t i = 0; i < gradient.size(); ++i)
        sum += gradient[i] * std::cos(0.3 * static_cast<double>(i));
      const double want = expected["gradients"].at(p.name);
      BOOST_TEST(std::abs(sum - want) < 1e-13 + 1e-11 * std::abs(want), p.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(parameters_have_the_names_and_shapes_of_gpt_neox) {
  const Transformer model(tiny_config("none"), 1);
  const int64_t h = 8, f = 12, v = 13;
  std::vector<std::pair<std::string, Shape>> want = {{"gpt_neox.embed_in.weight", {v, h}}};
  for (const std::string i : {"0", "1"}) {
    std::string p = "gpt_neox.layers.";
    p += i;
    for (const auto& [name, shape] : std::vector<std::pair<std::string, Shape>>{
             {".input_layernorm.weight", {h}},
             {".input_layernorm.bias", {h}},
             {".attention.query_key_value.weight", {3 * h, h}},
             {".attention.query_key_value.bias", {3 * h}},
             {".attention.dense.weight", {h, h}},
             {".attention.dense.bias", {h}},
             {".post_attention_layernorm.weight", {h}},
             {".post_attention_layernorm.bias", {h}},
             {".mlp.dense_h_to_4h.weight", {f, h}},
             {".mlp.dense_h_to_4h.bias", {f}},
             {".mlp.dense_4h_to_h.weight", {h, f}},
             {".mlp.dense_4h_to_h.bias", {h}}})
      want.emplace_back(p + name, shape);
  }
  want.emplace_back("gpt_neox.final_layer_norm.weight", Shape{h});
  want.emplace_back("gpt_neox.final_layer_norm.bias", Shape{h});
  want.emplace_back("embed_out.weight", Shape{v, h});
  const std::vector<Parameter> got = model.parameters();
  BOOST_REQUIRE_EQUAL(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    BOOST_TEST(got[i].name == want[i].first);
    BOOST_TEST(got[i].value.shape() == want[i].second);
    BOOST_TEST(got[i].value.requires_grad());
    BOOST_TEST(got[i].decay == (want[i].second.rank() == 2));
  }
}

BOOST_AUTO_TEST_CASE(parameters_of_the_encoding_are_named_after_it_and_do_not_decay) {
  const auto own = [](const std::string& posenc) {
    std::map<std::string, Parameter> found;
    for (const Parameter& p : Transformer(tiny_config(posenc), 1).parameters())
      if (p.name.find("position") != std::string::npos) found.emplace(p.name, p);
    return found;
  };
  BOOST_TEST(own("alibi").empty());
  const auto kerple = own("kerple_log");
  BOOST_TEST(kerple.size() == 2);
  BOOST_TEST(kerple.count("gpt_neox.position_bias.kerple_log.r1") == 1);
  BOOST_TEST(kerple.count("gpt_neox.position_bias.kerple_log.r2") == 1);
  for (const auto& [name, p] : kerple) BOOST_TEST(!p.decay);
  const auto learned = own("learned_abs");
  BOOST_REQUIRE_EQUAL(learned.size(), 1);
  BOOST_TEST(learned.begin()->first == "gpt_neox.embed_positions.weight");
  BOOST_TEST(learned.begin()->second.value.shape() == Shape({9, 8}));
  BOOST_TEST(!learned.begin()->second.decay);
}

BOOST_AUTO_TEST_CASE(the_number_of_parameters_is_the_one_counted_from_the_config) {
  for (const char* name : {"smoke", "tiny", "mini"}) {
    int64_t total = 0;
    for (const Parameter& p : Transformer(preset(name), 1).parameters()) total += p.value.numel();
    BOOST_TEST(total == parameter_count(preset(name)));
  }
}

BOOST_AUTO_TEST_CASE(initial_weights_do_not_depend_on_the_encoding_or_on_the_other_layers) {
  ModelConfig one_layer = tiny_config("none");
  one_layer.n_layer = 1;
  std::map<std::string, std::vector<double>> first;
  for (const Parameter& p : Transformer(tiny_config("kerple_log"), 7).parameters())
    first[p.name] = p.value.to_vector();
  for (const Parameter& p : Transformer(tiny_config("sinusoidal"), 7).parameters())
    BOOST_TEST(first.at(p.name) == p.value.to_vector());
  for (const Parameter& p : Transformer(one_layer, 7).parameters()) {
    const bool scaled = p.name.ends_with("dense.weight") || p.name.ends_with("4h_to_h.weight");
    BOOST_TEST((first.at(p.name) == p.value.to_vector()) != scaled, p.name);
  }
}

BOOST_AUTO_TEST_CASE(initial_widths_are_those_of_the_published_recipe) {
  ModelConfig config = preset("tiny");
  config.d_model = 128;
  config.d_ff = 512;
  for (const Parameter& p : Transformer(config, 5).parameters()) {
    const std::vector<double> x = p.value.to_vector();
    double square = 0;
    for (const double value : x) square += value * value / static_cast<double>(x.size());
    if (p.value.rank() == 2) {
      const bool writes_residual =
          p.name.ends_with("attention.dense.weight") || p.name.ends_with("4h_to_h.weight");
      const double want = writes_residual ? 0.02 / std::sqrt(8.0) : 0.02;
      BOOST_TEST(std::abs(std::sqrt(square) / want - 1) < 0.03, p.name);
    } else {
      BOOST_TEST(square == (p.name.ends_with("norm.weight") ? 1 : 0), p.name);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_loss_at_the_start_is_that_of_a_uniform_guess) {
  const Transformer model(preset("smoke"), 3);
  const Tensor ids = random_ids({4, 64}, 1, 257), targets = random_ids({4, 64}, 2, 257);
  const NoGrad no_grad;
  BOOST_TEST(std::abs(model.loss(ids, targets).item() - std::log(320.0)) < 0.05);
}

BOOST_AUTO_TEST_CASE(nll_is_the_loss_of_each_token) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const Transformer model(tiny_config("alibi"), 1, dtype);
    shake(model);
    const Tensor ids = random_ids({3, 9}, 1, 13), targets = random_ids({3, 9}, 2, 13);
    const Tensor nll = model.nll(ids, targets);
    BOOST_TEST(nll.shape() == Shape({3, 9}));
    BOOST_TEST(nll.dtype() == accumulate_dtype(dtype));
    BOOST_TEST(!nll.needs_grad());
    double mean = 0;
    for (const double value : nll.to_vector()) mean += value / 27;
    BOOST_TEST(std::abs(mean - model.loss(ids, targets).item()) <
               (dtype == DType::f64 ? 1e-13 : 2e-6));
    if (dtype == DType::bf16) continue;  // logits() rounds them to bfloat16, nll() does not
    const NoGrad no_grad;
    const std::vector<double> logits = model.logits(ids).to_vector();
    const std::vector<double> target = targets.to_vector(), value = nll.to_vector();
    for (size_t i = 0; i < 27; ++i) {
      double sum = 0;
      for (size_t j = 0; j < 13; ++j) sum += std::exp(logits[i * 13 + j]);
      const double want = std::log(sum) - logits[i * 13 + static_cast<size_t>(target[i])];
      BOOST_TEST(std::abs(value[i] - want) < (dtype == DType::f64 ? 1e-13 : 5e-6));
    }
  }
}

// Every encoding, and a mix by layer.
BOOST_AUTO_TEST_CASE(tail_nll_is_the_last_columns_of_nll) {
  std::vector<std::string> expressions{"alibi + window(3)", "rope@0 + alibi@1",
                                       "window(3, sinks=2) + fire"};
  for (const posenc::Row& row : posenc::registry()) expressions.push_back(example_of(row));
  for (const std::string& posenc : expressions) {
    const Transformer model(tiny_config(posenc), 1, DType::f64);
    shake(model);
    for (const auto& [seq_len, n] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {2, 1}, {9, 1}, {9, 5}, {9, 8}, {9, 9}}) {
      const Tensor ids = random_ids({3, seq_len}, 1, 13), targets = random_ids({3, seq_len}, 2, 13);
      const std::vector<double> all = model.nll(ids, targets).to_vector();
      const std::vector<double> target = targets.to_vector();
      std::vector<int32_t> tail_targets;
      std::vector<double> want;
      for (int64_t b = 0; b < 3; ++b)
        for (int64_t t = seq_len - n; t < seq_len; ++t) {
          const auto i = static_cast<size_t>(b * seq_len + t);
          tail_targets.push_back(static_cast<int32_t>(target[i]));
          want.push_back(all[i]);
        }
      const Tensor tail = model.tail_nll(ids, Tensor::from(tail_targets, {3, n}));
      BOOST_TEST(tail.shape() == Shape({3, n}));
      BOOST_TEST(!tail.needs_grad());
      BOOST_TEST(all_close(tail.to_vector(), want, Tolerance(1e-12)),
                 posenc << ' ' << seq_len << ' ' << n);
      if (n > 1) continue;
      const Tensor last = model.last_nll(ids, Tensor::from(tail_targets, {3}));
      BOOST_TEST(last.shape() == Shape({3}));
      BOOST_TEST(last.to_vector() == tail.to_vector());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_token_changes_nothing_before_it_and_something_after_it) {
  for (const char* posenc : {"none", "alibi", "kerple_log", "rope", "sinusoidal", "learned_abs"}) {
    const Transformer model(tiny_config(posenc), 1);
    shake(model);
    const Tensor targets = random_ids({1, 9}, 2, 13);
    Tensor ids = random_ids({1, 9}, 1, 13);
    const std::vector<double> before = model.nll(ids, targets).to_vector();
    ids.data<int32_t>()[5] = (ids.data<int32_t>()[5] + 1) % 13;
    const std::vector<double> after = model.nll(ids, targets).to_vector();
    for (size_t t = 0; t < 9; ++t) BOOST_TEST((before[t] == after[t]) == (t < 5));
  }
}

BOOST_AUTO_TEST_CASE(without_positions_the_order_of_earlier_tokens_does_not_matter) {
  for (const auto& [posenc, matters] :
       std::vector<std::pair<std::string, bool>>{{"none", false},
                                                 {"alibi", true},
                                                 {"rope", true},
                                                 {"sinusoidal", true},
                                                 {"learned_abs", true}}) {
    ModelConfig config = tiny_config(posenc);
    config.n_layer = 1;  // with more, the causal mask itself tells positions apart
    const Transformer model(config, 1, DType::f64);
    shake(model);
    const auto last = [&](std::initializer_list<double> ids) {
      return model
          .last_nll(Tensor::from(ids, {1, 4}, DType::i32), Tensor::from({3}, {1}, DType::i32))
          .item();
    };
    const double difference = std::abs(last({1, 2, 5, 7}) - last({5, 1, 2, 7}));
    BOOST_TEST((difference > 1e-8) == matters, posenc << ": " << difference);
  }
}

BOOST_AUTO_TEST_CASE(dropout_is_drawn_in_training_alone) {
  ModelConfig config = tiny_config("alibi");
  const Transformer plain(config, 3, DType::f64);
  config.hidden_dropout = 0.3;
  const Transformer dropping(config, 3, DType::f64), other_seed(config, 4, DType::f64);
  const Tensor ids = random_ids({2, 9}, 1, 13), targets = random_ids({2, 9}, 2, 13);
  const auto loss = [&](const Transformer& model, uint64_t draw) {
    return model.loss(ids, targets, draw).item();
  };
  BOOST_TEST(loss(dropping, 5) == loss(dropping, 5));
  BOOST_TEST(loss(dropping, 5) != loss(dropping, 6));
  BOOST_TEST(loss(dropping, 5) != loss(plain, 5));
  BOOST_TEST(loss(plain, 5) == loss(plain, 6));
  BOOST_TEST(same_bits(dropping.nll(ids, targets, 5), plain.nll(ids, targets)));
  BOOST_TEST(same_bits(dropping.logits(ids), plain.logits(ids)));
  const Tensor next = random_ids({2}, 3, 13);
  BOOST_TEST(same_bits(dropping.last_nll(ids, next, 5), plain.last_nll(ids, next)));

  BOOST_TEST(dropping.has_dropout());
  BOOST_TEST(!plain.has_dropout());

  // With weights that make every branch zero, what is left to drop is the embedding.
  for (const Transformer* model : {&dropping, &plain})
    for (Parameter p : model->parameters())
      if (p.name.find("layers.") != std::string::npos && p.name.find("dense") != std::string::npos)
        p.value.assign(zeros_like(p.value));
  BOOST_TEST(loss(dropping, 5) != loss(dropping, 6));
  BOOST_TEST(loss(dropping, 5) != loss(plain, 5));
}

BOOST_AUTO_TEST_CASE(bfloat16_stays_close_to_float32) {
  const Tensor ids = random_ids({2, 32}, 1, 257), targets = random_ids({2, 32}, 2, 257);
  const Transformer exact(preset("smoke"), 3), rounded(preset("smoke"), 3, DType::bf16);
  BOOST_TEST(rounded.parameters()[0].value.dtype() == DType::f32);
  const Tensor a = exact.loss(ids, targets), b = rounded.loss(ids, targets);
  BOOST_TEST(b.dtype() == DType::f32);
  BOOST_TEST(std::abs(a.item() - b.item()) < 5e-3);
  backward(a);
  backward(b);
  const double norm = device_grad_norm(exact.parameters()).item();
  BOOST_TEST(std::abs(device_grad_norm(rounded.parameters()).item() / norm - 1) < 0.02);
}

// Rows enough that products pack their weights, and a single one.
std::vector<Tensor> passes_of(const Transformer& model) {
  const Tensor ids = random_ids({2, 32}, 1, 256), targets = random_ids({2, 32}, 2, 256);
  KeyValueCache cache = model.make_cache(1, 1);
  return {model.nll(ids, targets), model.input_gradient(ids, targets.view({2})),
          model.next_logits(model.extend(ids.view({1, 1}), cache))};
}

bool is_bias_of_product(const Parameter& p) {
  return p.name.ends_with(".bias") && p.name.find("norm") == std::string::npos;
}

BOOST_AUTO_TEST_CASE(copies_of_weights_are_kept_for_evaluation_and_change_no_result) {
  const auto all = model_families(preset("smoke"));
  for (const DType compute : {DType::f32, DType::bf16})
    for (const auto& [family, config] : all) {
      const Transformer model(config, 3, compute);
      const std::vector<Tensor> want = passes_of(model);
      model.keep_weight_copies();
      for (int i = 0; i < 2; ++i) {  // which keep packed copies, and read them
        const std::vector<Tensor> got = passes_of(model);
        for (size_t j = 0; j < want.size(); ++j)
          BOOST_TEST(same_bits(got[j], want[j]), family << ", " << compute << ", pass " << j);
      }
      for (const Parameter& p : model.parameters()) {
        const bool is_table =
            p.name == "gpt_neox.embed_in.weight" || p.name.find("position") != std::string::npos;
        const bool is_factor =
            p.value.rank() == 2 && (!is_table || p.name == vocabulary_tensor(config).name);
        BOOST_TEST(p.is_rounded == (is_factor || is_bias_of_product(p)), p.name);
        BOOST_TEST(p.value.has_rounded() == (p.is_rounded && compute == DType::bf16), p.name);
        if (!test::is_on_cuda())
          BOOST_TEST((p.value.kept_bytes() >= p.value.size_bytes()) == is_factor, p.name);
      }
    }
}

BOOST_AUTO_TEST_CASE(an_evaluation_keeps_no_activations) {
  const Transformer model(preset("smoke"), 3);
  const auto peak = [&](int64_t seq_len) {
    const Tensor ids = random_ids({1, seq_len}, 1, 257);
    const int64_t before = memory_stats(Device{}).current_bytes;
    reset_peak_memory(Device{});
    model.nll(ids, ids);
    BOOST_TEST(memory_stats(Device{}).current_bytes == before);
    return memory_stats(Device{}).peak_bytes - before;
  };
  // Linear in the length: doubling it at most doubles the peak, and a fixed part.
  const int64_t at_1024 = peak(1024), at_4096 = peak(4096);
  BOOST_TEST(at_4096 < 5 * at_1024);
  // Nine rows of width D and one of width 4 D would be 13; a layer that kept its own would add 16.
  BOOST_TEST(at_4096 < 4096 * 32 * 4 * 24);
}

// What input_gradient() takes at its peak.
int64_t gradient_peak(const ModelConfig& config, int64_t seq_len) {
  const Transformer model(config, 3);
  const Tensor ids = random_ids({1, seq_len}, 1, 257), target = random_ids({1}, 2, 257);
  const int64_t before = memory_stats(Device{}).current_bytes;
  reset_peak_memory(Device{});
  model.input_gradient(ids, target);
  return memory_stats(Device{}).peak_bytes - before;
}

BOOST_AUTO_TEST_CASE(an_input_gradient_keeps_one_block_and_no_gradient_of_a_weight) {
  ModelConfig config = preset("smoke");
  const int64_t at_1024 = gradient_peak(config, 1024), at_4096 = gradient_peak(config, 4096);
  BOOST_TEST(at_4096 < 5 * at_1024);
  // Two rows of width D for the input of each block, and what one block keeps, some 50.
  BOOST_TEST(at_4096 < 4096 * 32 * 4 * 64);
  config.n_layer = 12;
  BOOST_TEST(gradient_peak(config, 1024) - at_1024 < 10 * 3 * 1024 * config.d_model * 4);
  config = preset("smoke");
  config.d_ff = 8192;
  BOOST_TEST(gradient_peak(config, 2) < config.d_ff * config.d_model * 4);
}

BOOST_AUTO_TEST_CASE(arguments_that_do_not_fit_are_refused) {
  const Transformer model(tiny_config("none"), 1);
  const Tensor ids = random_ids({2, 5}, 1, 13);
  BOOST_TEST(message_of<ShapeError>([&] {
               model.loss(ids, random_ids({2, 4}, 1, 13));
             }) == "[model] expected targets of shape [2, 5], got [2, 4]");
  BOOST_TEST(message_of<ShapeError>([&] { model.nll(random_ids({5}, 1, 13), ids); }) ==
             "[model] expected ids of shape [batch_size, seq_len], got [5]");
  BOOST_TEST(message_of<ShapeError>([&] { model.last_nll(ids, random_ids({3}, 1, 13)); }) ==
             "[model] expected targets of shape [2], got [3]");
  BOOST_TEST(message_of<ShapeError>([&] {
               model.tail_nll(ids, random_ids({2, 6}, 1, 13));
             }) == "[model] expected targets of shape [2, n], n from 1 to 5, got [2, 6]");
  BOOST_TEST(message_of<ConfigError>([] { Transformer(tiny_config("none"), 1, DType::i32); }) ==
             "[model] expected a floating compute dtype, got int32");
  BOOST_TEST(message_of<ConfigError>([] {
               ModelConfig config = tiny_config("none");
               config.n_head = 3;
               Transformer(config, 1);
             }) ==
             "[model] expected d_model to be a multiple of n_head, got d_model = 8 and n_head = 3");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
