#include <boost/test/unit_test.hpp>

#include "apps/run/lora.h"
#include "apps/run/peft.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "layers/transformer.h"
#include "tests/support/all_close.h"
#include "tests/support/messages.h"
#include "tests/support/random_tensor.h"

namespace farfield::run {
BOOST_AUTO_TEST_SUITE(test_lora)
namespace {

BOOST_AUTO_TEST_CASE(the_option_is_read_and_written) {
  const AdapterConfig config = parse_lora("rank=16,alpha=8,targets=q,v,up,dropout=0.1,rslora");
  BOOST_TEST(config.rank == 16);
  BOOST_TEST(config.alpha == 8.0);
  BOOST_TEST(config.targets == (std::vector<std::string>{"q", "v", "up"}));
  BOOST_TEST(config.dropout == 0.1);
  BOOST_TEST(config.is_rank_stabilized);
  for (const char* text :
       {"rank=16,alpha=8,targets=q,v,up,dropout=0.1,rslora", "rank=2,alpha=4,targets=head",
        "rank=1,alpha=0.5,targets=q", "rank=8,alpha=16,targets=q,v,rslora,dora"})
    BOOST_TEST(to_text(parse_lora(text)) == text);
  BOOST_TEST(to_text(parse_lora("rslora, targets=q, k, rank=4")) ==
             "rank=4,alpha=8,targets=q,k,rslora");
}

BOOST_AUTO_TEST_CASE(texts_of_another_form_are_refused) {
  const auto refuses = [](const char* text, const char* message) {
    BOOST_CHECK_EXCEPTION(parse_lora(text), ConfigError, says(message));
  };
  refuses("", "expected KEY=VALUE,...");
  refuses("16", "got '16'");
  refuses("r=16", "did you mean 'rank'?");
  refuses("qlora=true", "got 'qlora'");
  refuses("rank=4,rank=5", "expected 'rank' once");
  refuses("rank=4,5", "rank: expected one value, got 2");
  refuses("rank=four", "rank: expected a whole number, got 'four'");
  refuses("rank=4,rslora,q", "got 'q'");
  refuses("targets=x", "got 'x'");
}

constexpr int64_t kHeads = 2, kWidth = 8;

Settings settings_of(const std::string& lora, const std::vector<std::string>& also = {}) {
  RunConfig config;
  config.n_head = kHeads;
  config.d_model = kWidth;
  config.lora = lora;
  config.train_also = also;
  return to_settings(config);
}

Transformer adapted(const std::string& lora, const std::vector<std::string>& also = {}) {
  ModelConfig config{.n_layer = 2,
                     .n_head = kHeads,
                     .d_model = kWidth,
                     .d_ff = 12,
                     .vocab_size = 16,
                     .train_len = 9,
                     .posenc = "kerple_log"};
  config.adapters = parse_lora(lora);
  config.adapters->also = also;
  Transformer model(config, 1);
  uint64_t seed = 3;
  for (Parameter p : model.trained_parameters())
    if (p.name.find(".lora_B") != std::string::npos ||
        p.name.find(".lora_magnitude_vector") != std::string::npos)
      p.value.assign(random_tensor(p.value.shape(), ++seed, -1, 1));
  return model;
}

NamedTensors tensors_of(const std::vector<Parameter>& parameters) {
  NamedTensors tensors;
  for (const Parameter& p : parameters) tensors.emplace_back(p.name, p.value.detach());
  return tensors;
}

std::map<std::string, Tensor> as_map(const NamedTensors& tensors) {
  return {tensors.begin(), tensors.end()};
}

BOOST_AUTO_TEST_CASE(tensors_go_to_peft_and_back) {
  const std::string lora = "rank=3,alpha=6,targets=q,v,dense,up,down,head,dora";
  const Settings settings = settings_of(lora, {"norms"});
  const NamedTensors own = tensors_of(adapted(lora, {"norms"}).trained_parameters());
  const std::map<std::string, Tensor> peft = as_map(to_peft(own, settings));
  const std::string qkv = "base_model.model.gpt_neox.layers.1.attention.query_key_value";
  BOOST_TEST(peft.at(qkv + ".lora_A.weight").shape() == (Shape{6, kWidth}));
  BOOST_TEST(peft.at(qkv + ".lora_B.weight").shape() == (Shape{3 * kWidth, 6}));
  BOOST_TEST(peft.at(qkv + ".lora_magnitude_vector").shape() == Shape{3 * kWidth});
  BOOST_TEST(adapter_config_text(settings).find("\"use_dora\": true") != std::string::npos);
  BOOST_TEST(adapter_config_text(settings_of("rank=3")).find("\"use_dora\": false") !=
             std::string::npos);
  BOOST_TEST(peft.count("base_model.model.embed_out.lora_A.weight") == 1u);
  BOOST_TEST(peft.count("base_model.model.gpt_neox.final_layer_norm.weight") == 1u);
  const std::map<std::string, Tensor> back = from_peft(peft, settings);
  BOOST_TEST(back.size() == own.size());
  for (const auto& [name, x] : own) BOOST_TEST(same_bits(back.at(name), x), name);
}

// As PEFT computes it: w + lora_alpha / r lora_B lora_A, with the patterns of the joined adapter.
BOOST_AUTO_TEST_CASE(the_joined_adapter_has_the_scale_of_its_parts) {
  for (const std::string lora : {"rank=3,alpha=5,targets=q,v", "rank=3,alpha=5,targets=k,v,rslora",
                                 "rank=2,alpha=7,targets=v"}) {
    const Settings settings = settings_of(lora);
    const Transformer model = adapted(lora);
    std::map<std::string, Tensor> weights = as_map(tensors_of(model.parameters()));
    const std::string layer = "gpt_neox.layers.0.attention.query_key_value";
    const std::vector<double> before = weights.at(layer + ".weight").to_vector();
    const NamedTensors own = tensors_of(model.trained_parameters());
    merge_adapters(as_map(own), settings, weights);
    const std::vector<double> after = weights.at(layer + ".weight").to_vector();
    const std::map<std::string, Tensor> peft = as_map(to_peft(own, settings));
    const Json config = read_json({"peft", "adapter_config.json", adapter_config_text(settings)});
    const double r = config["rank_pattern"].value("query_key_value", config["r"].get<double>()),
                 alpha = config["alpha_pattern"].value("query_key_value",
                                                       config["lora_alpha"].get<double>()),
                 scale = alpha / (config["use_rslora"].get<bool>() ? std::sqrt(r) : r);
    const Tensor &a = peft.at("base_model.model." + layer + ".lora_A.weight"),
                 &b = peft.at("base_model.model." + layer + ".lora_B.weight");
    BOOST_TEST(static_cast<double>(a.dim(0)) == r);
    const std::vector<double> down = a.to_vector(), up = b.to_vector();
    for (int64_t o = 0; o < 3 * kWidth; ++o)
      for (int64_t i = 0; i < kWidth; ++i) {
        double sum = 0;
        for (int64_t k = 0; k < a.dim(0); ++k)
          sum +=
              up[static_cast<size_t>(o * a.dim(0) + k)] * down[static_cast<size_t>(k * kWidth + i)];
        const auto at = static_cast<size_t>(o * kWidth + i);
        BOOST_TEST(std::abs(after[at] - before[at] - scale * sum) < 1e-6, lora);
      }
  }
}

BOOST_AUTO_TEST_CASE(merged_weights_give_the_loss_of_the_adapters) {
  const Tensor ids = random_ids({2, 9}, 1, 13), targets = random_ids({2, 9}, 2, 13);
  for (const std::string lora :
       {"rank=3,alpha=6,targets=q,k,v,dense,up,down,head",
        "rank=3,alpha=6,targets=q,k,v,dense,up,down,head,dora", "rank=3,targets=v,dora"}) {
    const Transformer model = adapted(lora, {"norms"});
    std::map<std::string, Tensor> weights = as_map(tensors_of(model.parameters()));
    merge_adapters(as_map(tensors_of(model.trained_parameters())), settings_of(lora, {"norms"}),
                   weights);
    ModelConfig plain = model.config();
    plain.adapters.reset();
    const Transformer merged(plain, 1);
    load_parameters(merged.parameters(), weights);
    BOOST_TEST(all_close(merged.nll(ids, targets), model.nll(ids, targets), 1e-5), lora);
  }
}

BOOST_AUTO_TEST_CASE(damaged_adapters_are_refused) {
  const std::string lora = "rank=3,alpha=6,targets=q,v";
  const Settings settings = settings_of(lora);
  const std::map<std::string, Tensor> peft =
      as_map(to_peft(tensors_of(adapted(lora).trained_parameters()), settings));
  const auto refuses = [&](const std::map<std::string, Tensor>& tensors, const char* message) {
    BOOST_CHECK_EXCEPTION(from_peft(tensors, settings), IoError, says(message));
  };
  refuses({{"lm_head.weight", Tensor::zeros({1})}}, "expected tensors of adapters");
  std::map<std::string, Tensor> other = peft;
  other.begin()->second = Tensor::zeros({3, kWidth});
  refuses(other, "expected 2 parts of rank 3");
  other = peft;
  other["base_model.model.x.lora_A.bias"] = Tensor::zeros({1});
  refuses(other, "at the end of");
  Settings narrow = settings;
  for (auto& [key, value] : narrow)
    if (key == "d-model") value = "1";
  BOOST_CHECK_EXCEPTION(from_peft(peft, narrow), IoError, says("expected d-model and n-head"));
  std::map<std::string, Tensor> own = from_peft(peft, settings), none;
  BOOST_CHECK_EXCEPTION(merge_adapters(own, settings_of(lora + ",dora"), none), IoError,
                        says("query_key_value.lora_magnitude_vector', got none"));
  BOOST_CHECK_EXCEPTION(merge_adapters(own, settings, none), IoError,
                        says("expected a tensor 'gpt_neox.layers.0.attention.query_key_value"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::run
