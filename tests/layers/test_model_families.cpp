// The parts of other models than GPT-NeoX, put together.

#include <boost/test/unit_test.hpp>
#include <set>

#include "engine/autograd.h"
#include "engine/ops/pointwise.h"
#include "tests/layers/model_families.h"
#include "tests/layers/tiny_model.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_model_families)  // ctest: sanitize
namespace {

ModelConfig base() {
  ModelConfig config = tiny_config("none");
  config.n_head = 4;
  return config;
}

int64_t numbers_of(const Transformer& model) {
  int64_t n = 0;
  for (const Parameter& p : model.parameters())
    if (!posenc::parameter_of(p.name)) n += p.value.numel();
  return n;
}

BOOST_AUTO_TEST_CASE(parameters_are_as_many_as_counted) {
  for (const auto& [name, config] : model_families(base()))
    BOOST_TEST(numbers_of(Transformer(config, 1)) == parameter_count(config), name);
}

BOOST_AUTO_TEST_CASE(parameters_that_a_model_lacks_are_not_there) {
  for (const auto& [name, config] : model_families(base())) {
    std::set<std::string> names;
    for (const Parameter& p : Transformer(config, 1).parameters()) names.insert(p.name);
    const std::string layer = "gpt_neox.layers.1.";
    BOOST_TEST(names.contains("embed_out.weight") != config.ties_embedding, name);
    BOOST_TEST(names.contains("gpt_neox.embed_in_layernorm.weight") == config.has_embedding_norm);
    BOOST_TEST(names.contains(layer + "input_layernorm.bias") == config.has_norm_biases());
    BOOST_TEST(names.contains(layer + "attention.query_key_value.bias") == config.has_qkv_bias);
    BOOST_TEST(names.contains(layer + "attention.dense.bias") == config.has_dense_bias);
    BOOST_TEST(names.contains(layer + "mlp.gate.weight") == config.is_gated());
    BOOST_TEST(names.contains(layer + "mlp.dense_4h_to_h.bias") == config.has_mlp_bias);
  }
}

BOOST_AUTO_TEST_CASE(the_output_of_the_last_rows_and_of_a_cache_is_that_of_the_whole_pass) {
  const NoGrad no_grad;
  const Tensor ids = random_ids({2, 8}, 1, 13), targets = random_ids({2, 8}, 2, 13);
  for (const auto& [name, config] : model_families(base())) {
    const Transformer model(config, 1, DType::f64);
    shake(model);
    const std::vector<double> whole = model.nll(ids, targets).to_vector(),
                              last = model
                                         .last_nll(ids, Tensor::from({targets.to_vector()[7],
                                                                      targets.to_vector()[15]},
                                                                     {2}, DType::i32))
                                         .to_vector();
    BOOST_TEST(std::abs(last[0] - whole[7]) < 1e-12, name);
    BOOST_TEST(std::abs(last[1] - whole[15]) < 1e-12, name);
    if (name == "gpt2") continue;  // its table of positions is as long as a cache may be
    KeyValueCache cache = model.make_cache(2, 8);
    const Tensor hidden = model.extend(ids, cache, 8);
    BOOST_TEST(all_close(model.next_nll(hidden, targets), Tensor::from(whole, {2, 8}, DType::f64),
                         Tolerance(1e-12)),
               name);
  }
}

BOOST_AUTO_TEST_CASE(a_parallel_block_adds_both_branches_to_the_stream_before_it) {
  ModelConfig config = base();
  config.is_parallel = true;
  const Transformer model(config, 1, DType::f64);
  const Initializer init{.seed = 1, .dtype = DType::f64};
  const Block block = Block::make(init, "block", config);
  const auto plan = model.encoding().plan(5, 5, posenc::Phase::eval);
  const Tensor x = random_tensor({2, 5, 8}, 3);
  const Residual got = block({.x = x, .branch = {}}, plan.layers[0]);
  const Tensor want =
      x + block.attention(block.attention_norm({.x = x, .branch = {}}).normed, plan.layers[0]) +
      block.mlp(block.mlp_norm({.x = x, .branch = {}}).normed);
  BOOST_TEST(all_close(got.x + got.branch, want, Tolerance(1e-14)));
}

BOOST_AUTO_TEST_CASE(parts_that_do_not_go_together_are_refused) {
  const auto refused = [](const auto& change, const std::string& what) {
    ModelConfig config = base();
    change(config);
    BOOST_CHECK_EXCEPTION(validate(config), ConfigError, says(what));
  };
  refused([](ModelConfig& c) { c.n_kv_head = 3; },
          "expected n_kv_head to divide n_head = 4, got 3");
  refused([](ModelConfig& c) { c.d_head = -1; }, "expected d_head from 1");
  refused([](ModelConfig& c) { c.cutoffs = {4}, c.ties_embedding = true; }, "no tied embedding");
  refused([](ModelConfig& c) { c.init = InitScheme::fairseq, c.norm = NormKind::rms; },
          "initial weights of fairseq");
  refused([](ModelConfig& c) { c.adapters = AdapterConfig{.targets = {"gate"}}; },
          "expected no 'gate'");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
