#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/autograd.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/reduce.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_low_rank)  // ctest: on_cuda
namespace {

ModelConfig adapted(const AdapterConfig& adapters, const std::string& posenc = "kerple_log") {
  ModelConfig config = tiny_config(posenc);
  config.adapters = adapters;
  return config;
}

const AdapterConfig kAll = {.rank = 3, .targets = {"q", "k", "v", "dense", "up", "down", "head"}};

std::vector<std::string> trained_names(const ModelConfig& config) {
  std::vector<std::string> names;
  for (const Parameter& p : Transformer(config, 1).trained_parameters()) names.push_back(p.name);
  return names;
}

BOOST_AUTO_TEST_CASE(a_new_adapter_changes_nothing) {
  const Tensor ids = random_ids({2, 9}, 1, 13), targets = random_ids({2, 9}, 2, 13);
  const Transformer plain(tiny_config("rope"), 3, DType::f64),
      model(adapted(kAll, "rope"), 3, DType::f64);
  BOOST_TEST(same_bits(model.nll(ids, targets), plain.nll(ids, targets)));
}

// The weight that scale up() down() is added to gives the same outputs as the two products do.
BOOST_AUTO_TEST_CASE(the_adapted_weight_is_the_layer_with_its_adapter) {
  const Initializer init{.seed = 1, .dtype = DType::f64};
  Linear layer = Linear::make(init, "qkv", 8, 24, 0.5);
  layer.adapter = LowRank::make(init, "qkv", 8, 24, {.rank = 2, .alpha = 3, .targets = {"v", "q"}},
                                {"q", "k", "v"}, {4, 4, 4}, {});
  BOOST_TEST_REQUIRE(layer.adapter.parts.size() == 2u);
  BOOST_TEST(layer.adapter.parts[0].name == "q");
  uint64_t seed = 5;
  for (LowRank::Part& part : layer.adapter.parts)
    part.up.assign(random_tensor(part.up.shape(), ++seed, -1, 1));
  const Tensor x = random_tensor({3, 5, 8}, 9, -1, 1);
  const Linear merged{.weight = layer.adapted_weight(), .bias = layer.bias};
  BOOST_TEST(all_close(layer(x), merged(x), 1e-13));
  // Row (h * 3 + p) * K + c of the update is row h * K + c of part p; k has none.
  const std::vector<double> before = layer.weight.to_vector(), after = merged.weight.to_vector();
  for (int64_t h = 0; h < 2; ++h)
    for (int64_t p = 0; p < 3; ++p)
      for (int64_t c = 0; c < 4; ++c)
        for (int64_t i = 0; i < 8; ++i) {
          double want = 0;
          for (const LowRank::Part& part : layer.adapter.parts) {
            if (part.index != p) continue;
            const std::vector<double> up = part.up.to_vector(), down = part.down.to_vector();
            for (int64_t r = 0; r < 2; ++r)
              want += 1.5 * up[static_cast<size_t>((h * 4 + c) * 2 + r)] *
                      down[static_cast<size_t>(r * 8 + i)];
          }
          const auto at = static_cast<size_t>(((h * 3 + p) * 4 + c) * 8 + i);
          BOOST_TEST(std::abs(after[at] - before[at] - want) < 1e-13);
        }
}

// The QKV projection of two heads of width 4, of which q and v are adapted, with magnitudes.
Linear layer_with_magnitudes() {
  const Initializer init{.seed = 1, .dtype = DType::f64};
  Linear layer = Linear::make(init, "qkv", 8, 24, 0.5);
  layer.bias.assign(random_tensor({24}, 2, -1, 1));
  layer.adapter = LowRank::make(
      init, "qkv", 8, 24, {.rank = 2, .alpha = 3, .targets = {"v", "q"}, .has_magnitudes = true},
      {"q", "k", "v"}, {4, 4, 4}, {});
  layer.adapter.start_magnitudes(layer.weight);
  return layer;
}

// As above, trained: neither the update nor the change of the magnitudes is zero.
Linear trained_layer_with_magnitudes() {
  Linear layer = layer_with_magnitudes();
  uint64_t seed = 5;
  for (LowRank::Part& part : layer.adapter.parts)
    part.up.assign(random_tensor(part.up.shape(), ++seed, -1, 1));
  layer.adapter.magnitude.assign(random_tensor({24}, 8, 0.5, 2));
  return layer;
}

std::vector<double> lengths_of_rows(const Tensor& weight) {
  const std::vector<double> w = weight.to_vector();
  const auto n = static_cast<size_t>(weight.dim(1));
  std::vector<double> lengths;
  for (size_t row = 0; row < w.size(); row += n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += w[row + i] * w[row + i];
    lengths.push_back(std::sqrt(sum));
  }
  return lengths;
}

BOOST_AUTO_TEST_CASE(new_magnitudes_change_nothing) {
  const Linear layer = layer_with_magnitudes();
  const Linear plain{.weight = layer.weight, .bias = layer.bias};
  const Tensor x = random_tensor({3, 5, 8}, 9, -1, 1);
  BOOST_TEST(same_bits(layer.adapted_weight(), layer.weight));
  BOOST_TEST(all_close(layer(x), plain(x), 1e-14));
  const std::vector<double> m = layer.adapter.magnitude.to_vector(),
                            lengths = lengths_of_rows(layer.weight);
  for (size_t i = 0; i < m.size(); ++i) BOOST_TEST(std::abs(m[i] - lengths[i]) < 1e-14);
}

BOOST_AUTO_TEST_CASE(magnitudes_are_the_lengths_of_adapted_rows) {
  const Linear layer = trained_layer_with_magnitudes();
  const Linear merged{.weight = layer.adapted_weight(), .bias = layer.bias};
  const std::vector<double> m = layer.adapter.magnitude.to_vector(),
                            lengths = lengths_of_rows(merged.weight);
  for (size_t i = 0; i < m.size(); ++i) BOOST_TEST(std::abs(m[i] - lengths[i]) < 1e-14);
  const Tensor x = random_tensor({3, 5, 8}, 9, -1, 1);
  BOOST_TEST(all_close(layer(x), merged(x), 1e-13));
}

// Central differences of the layer with the lengths of its rows held: the sum of c y.
BOOST_AUTO_TEST_CASE(gradients_are_those_with_constant_lengths) {
  const Linear layer = trained_layer_with_magnitudes();
  const Tensor x = random_tensor({6, 8}, 9, -1, 1), c = random_tensor({6, 24}, 10, -1, 1);
  backward(sum(layer(x) * c));
  Linear at = layer;  // shares tensors
  at.adapter.magnitude = {};
  const std::vector<double> held = lengths_of_rows(at.adapted_weight());
  const auto value = [&] {  // the bias does not matter
    const std::vector<double> w = at.adapted_weight().to_vector(), xs = x.to_vector(),
                              cs = c.to_vector(), m = layer.adapter.magnitude.to_vector();
    double total = 0;
    for (size_t b = 0; b < 6; ++b)
      for (size_t o = 0; o < 24; ++o)
        for (size_t i = 0; i < 8; ++i)
          total += cs[b * 24 + o] * m[o] / held[o] * w[o * 8 + i] * xs[b * 8 + i];
    return total;
  };
  const auto check = [&](Tensor p, const char* name) {
    const std::vector<double> grad = p.grad().to_vector(), start = p.to_vector();
    constexpr double kStep = 1e-3;  // the value is linear in each element
    for (size_t i = 0; i < start.size(); ++i) {
      double ends[2];
      for (const int end : {0, 1}) {
        std::vector<double> moved = start;
        moved[i] += end == 0 ? kStep : -kStep;
        p.assign(Tensor::from(moved, p.shape(), DType::f64, p.device()));
        ends[end] = value();
      }
      p.assign(Tensor::from(start, p.shape(), DType::f64, p.device()));
      const bool is_constant = p.shape() == Shape{24} && i / 4 % 3 == 1;  // rows of k
      const double want = is_constant ? 0 : (ends[0] - ends[1]) / (2 * kStep);
      BOOST_TEST(std::abs(grad[i] - want) < 1e-9, name << ' ' << i);
    }
  };
  for (const LowRank::Part& part : layer.adapter.parts) {
    check(part.down, "down");
    check(part.up, "up");
  }
  check(layer.adapter.magnitude, "magnitude");
}

BOOST_AUTO_TEST_CASE(the_scale_is_alpha_by_rank_or_by_its_root) {
  BOOST_TEST((AdapterConfig{.rank = 16, .alpha = 32}.scale()) == 2.0);
  BOOST_TEST((AdapterConfig{.rank = 16, .alpha = 32, .is_rank_stabilized = true}.scale()) == 8.0);
}

BOOST_AUTO_TEST_CASE(adapters_alone_are_trained_and_what_is_named_beside_them) {
  const std::string layer = "gpt_neox.layers.0.";
  ModelConfig config = adapted({.targets = {"q", "dense"}});
  config.n_layer = 1;
  BOOST_TEST(trained_names(config) ==
             (std::vector<std::string>{layer + "attention.query_key_value.lora_A.q",
                                       layer + "attention.query_key_value.lora_B.q",
                                       layer + "attention.dense.lora_A",
                                       layer + "attention.dense.lora_B"}));
  config.adapters->also = {"posenc", "embedding", "head"};
  const std::vector<std::string> names = trained_names(config);
  BOOST_TEST((std::vector<std::string>(names.begin() + 4, names.end())) ==
             (std::vector<std::string>{"gpt_neox.embed_in.weight", "embed_out.weight",
                                       "gpt_neox.position_bias.kerple_log.r1",
                                       "gpt_neox.position_bias.kerple_log.r2"}));
  config.adapters->also = {"norms"};
  BOOST_TEST(trained_names(config).size() == 4u + 2u * 2u + 2u);
  const Transformer model(config, 1);
  for (const Parameter& p : model.parameters())
    BOOST_TEST(p.value.requires_grad() == (p.name.find("norm") != std::string::npos), p.name);
}

BOOST_AUTO_TEST_CASE(frozen_weights_in_bfloat16_give_the_same_loss) {
  const Tensor ids = random_ids({2, 9}, 1, 13), targets = random_ids({2, 9}, 2, 13);
  const Transformer wide(adapted(kAll), 3, DType::bf16);
  Transformer narrow(adapted(kAll), 3, DType::bf16);
  narrow.hold_frozen_in_bf16();
  const Tensor want = wide.loss(ids, targets), got = narrow.loss(ids, targets);
  BOOST_TEST(same_bits(got, want));
  backward(want);
  backward(got);
  const std::vector<Parameter> a = wide.trained_parameters(), b = narrow.trained_parameters();
  for (size_t i = 0; i < a.size(); ++i)
    BOOST_TEST(same_bits(a[i].value.grad(), b[i].value.grad()), a[i].name);
  Transformer exact(adapted(kAll), 3, DType::f32);
  BOOST_CHECK_THROW(exact.hold_frozen_in_bf16(), ConfigError);
}

// The embedding is frozen, so the first block has no input that needs a gradient.
BOOST_AUTO_TEST_CASE(blocks_that_are_computed_again_train_the_same_adapters) {
  const Tensor ids = random_ids({2, 9}, 1, 13), targets = random_ids({2, 9}, 2, 13);
  for (const AdapterConfig& adapters :
       {AdapterConfig{.rank = 2}, AdapterConfig{.rank = 2, .also = {"norms"}}}) {
    const Transformer kept(adapted(adapters, "rope"), 3);
    Transformer again(adapted(adapters, "rope"), 3);
    again.set_checkpointing(true);
    backward(kept.loss(ids, targets));
    backward(again.loss(ids, targets));
    const std::vector<Parameter> a = kept.trained_parameters(), b = again.trained_parameters();
    for (size_t i = 0; i < a.size(); ++i) {
      BOOST_TEST_REQUIRE(b[i].value.grad().defined(), b[i].name);
      BOOST_TEST(same_bits(b[i].value.grad(), a[i].value.grad()), b[i].name);
    }
  }
}

BOOST_AUTO_TEST_CASE(impossible_adapters_are_refused) {
  const auto refuses = [](const AdapterConfig& config, const std::string& message) {
    BOOST_CHECK_EXCEPTION(Transformer(adapted(config), 1), ConfigError, says(message));
  };
  refuses({.rank = 0}, "[lora] rank: expected 1 to 65536, got 0");
  refuses({.alpha = 0}, "[lora] alpha: expected a finite number above 0, got 0");
  refuses({.dropout = 1}, "[lora] dropout: expected a share from 0 to below 1, got 1");
  refuses({.targets = {}}, "[lora] targets: expected at least one of q, k, v");
  refuses({.targets = {"q", "qq"}}, "got 'qq'");
  refuses({.targets = {"q", "q"}}, "expected 'q' once");
  refuses({.targets = {"gates"}},
          "expected some of q, k, v, dense, gate, up, down, head, got 'gates'");
  refuses({.also = {"bias"}}, "[lora] train-also: expected some of norms");
  refuses({.targets = {"head"}, .also = {"head"}}, "got both");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
