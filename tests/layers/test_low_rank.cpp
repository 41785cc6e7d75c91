#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"
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
                                {"q", "k", "v"}, 4, {});
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
  refuses({.targets = {"gate"}}, "expected some of q, k, v, dense, up, down, head, got 'gate'");
  refuses({.also = {"bias"}}, "[lora] train-also: expected some of norms");
  refuses({.targets = {"head"}, .also = {"head"}}, "got both");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
