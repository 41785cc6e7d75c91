// Which class of transformers computes a model, and what none of them does.

#include <boost/test/unit_test.hpp>
#include <string>

#include "apps/hub/class_config.h"
#include "apps/hub/exported_encoding.h"
#include "apps/run/architecture.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "tests/support/messages.h"

namespace farfield::hub {
BOOST_AUTO_TEST_SUITE(test_class_config)
namespace {

ModelConfig shaped(const std::string& posenc, const std::string& architecture) {
  ModelConfig model;
  model.n_layer = 3;
  model.d_model = 64;
  model.d_ff = 256;
  model.posenc = posenc;
  run::set_architecture(architecture, model);
  return model;
}

ModelClass class_of(const ModelConfig& model) {
  return model_class(model, exported_encoding(model), {});
}

std::string class_name(const std::string& posenc, const std::string& architecture) {
  return class_of(shaped(posenc, architecture)).name;
}

template <class... Words>
void is_refused(const std::string& posenc, const std::string& architecture, const Words&... words) {
  BOOST_TEST_CONTEXT(posenc << " in " << architecture) {
    BOOST_CHECK_EXCEPTION(class_of(shaped(posenc, architecture)), ConfigError, says(words...));
  }
}

BOOST_AUTO_TEST_CASE(the_nearest_class_is_found) {
  BOOST_TEST(class_name("rope", "neox") == "GPTNeoXForCausalLM");
  BOOST_TEST(class_name("rope(rotary_pct=0.25)", "neox,parallel,tied") == "GPTNeoXForCausalLM");
  BOOST_TEST(class_name("none", "neox") == "GPTNeoXForCausalLM");
  BOOST_TEST(class_name("rope", "llama") == "LlamaForCausalLM");
  BOOST_TEST(class_name("rope@0..1 + rope@-1", "llama") == "LlamaForCausalLM");
  BOOST_TEST(class_name("rope + window(9)", "llama") == "MistralForCausalLM");
  BOOST_TEST(class_name("rope", "qwen2") == "Qwen2ForCausalLM");
  BOOST_TEST(class_name("rope + window(9)@-1", "qwen2") == "Qwen2ForCausalLM");
  BOOST_TEST(class_name("rope@0..1", "llama") == "SmolLM3ForCausalLM");
  BOOST_TEST(class_name("rope + window(9)@1", "llama") == "SmolLM3ForCausalLM");
  BOOST_TEST(class_name("none", "llama") == "SmolLM3ForCausalLM");
  BOOST_TEST(class_name("alibi", "bloom,mlp=gelu_tanh") == "BloomForCausalLM");
  BOOST_TEST(class_name("alibi", "mpt") == "MptForCausalLM");
  BOOST_TEST(class_name("alibi(slopes=geometric)", "mpt") == "MptForCausalLM");
  BOOST_TEST(class_name("learned_abs", "gpt2") == "GPT2LMHeadModel");
}

BOOST_AUTO_TEST_CASE(encodings_that_no_class_has_are_refused_by_name) {
  const std::string no_class = "no class of transformers has ";
  is_refused("kerple_log", "neox", no_class + "kerple_log", "got 'kerple_log'");
  is_refused("t5", "neox", no_class + "t5");
  is_refused("sinusoidal", "neox", no_class + "sinusoidal");
  is_refused("rope + kerple_log", "llama", no_class + "kerple_log");
  is_refused("rope(layout=interleaved)", "neox", no_class + "rope with layout=interleaved");
  is_refused("rope(angle_dtype=bf16)", "neox", no_class + "rope with angle_dtype=bf16");
  is_refused("rope_linear(scale=auto)", "neox", no_class + "rope_linear with scale=auto");
  is_refused("rope_yarn(scale=auto)", "llama", no_class + "rope_yarn with scale=auto");
  is_refused("rope_yarn(scale=4, ramp=wavelength)", "llama", "rope_yarn with ramp=wavelength");
  is_refused("rope@0 + rope(base=500)@1..2", "llama", "rope beside another encoding");
  is_refused("rope + alibi", "neox", "alibi beside another encoding");
  is_refused("rope_linear(scale=2) + window(9)", "llama", "a window beside rope_linear");
  is_refused("alibi + window(9)", "mpt", "a window beside alibi");
  is_refused("learned_abs + window(9)", "gpt2", "a window beside learned_abs");
  is_refused("rope + window(9, sinks=2)", "llama", "a window with sinks");
  is_refused("rope + window(9, at=eval)", "llama", "a window in evaluation alone");
  is_refused("rope + window(9)@0 + window(5)@1", "llama", "windows of several sizes");
  is_refused("alibi@0", "mpt", "alibi on some layers alone");
  is_refused("alibi(bias_scale=2)", "mpt", "alibi with a bias_scale");
  is_refused("alibi(slope_floor=0.1)", "mpt", "alibi with a slope_floor");
  is_refused("alibi(slopes=[1, 0.5, 0.25, 0.125])", "mpt", "alibi with slopes of its own");
}

BOOST_AUTO_TEST_CASE(geometric_slopes_are_the_usual_ones_for_two_to_the_n_heads_alone) {
  ModelConfig model = shaped("alibi(slopes=geometric)", "mpt");
  model.n_head = 6;
  model.d_model = 96;
  model.d_ff = 384;
  BOOST_CHECK_EXCEPTION(class_of(model), ConfigError, says("alibi with slopes of its own"));
  model.posenc = "alibi";
  BOOST_TEST(class_of(model).name == "MptForCausalLM");
}

BOOST_AUTO_TEST_CASE(the_message_says_what_each_class_lacks) {
  is_refused("alibi", "neox", "no class of transformers computes this model. What it has otherwise",
             "than\n  GPTNeoXForCausalLM: alibi\n",
             "BloomForCausalLM: GELU, no norm behind the embedding\n",
             "MptForCausalLM: layer norm with biases, biases of q, k and v");
  is_refused("rope", "neox,kv-heads=2", "GPTNeoXForCausalLM: grouped queries\n");
  is_refused("rope", "neox,head-dim=24", "GPTNeoXForCausalLM: a head_dim of its own\n");
  is_refused("rope", "neox,bias=none", "GPTNeoXForCausalLM: layer norm without biases");
  is_refused("rope", "neox,embedding-norm", "GPTNeoXForCausalLM: a norm behind the emb");
  is_refused("rope@0", "neox", "GPTNeoXForCausalLM: rope@0");
  is_refused("rope + window(9)", "neox", "GPTNeoXForCausalLM: rope + window(9)");
  is_refused("rope", "neox,bias=qkv+mlp+norm", "GPTNeoXForCausalLM: biases of q, k and v\n");
  is_refused("rope(rotary_pct=0.5)", "llama", "LlamaForCausalLM: a rotary_pct below 1\n");
  is_refused("rope", "llama,parallel", "LlamaForCausalLM: parallel attention and MLP\n");
  is_refused("rope", "llama,mlp=gelu", "LlamaForCausalLM: GELU\n");
  is_refused("rope", "llama,bias=dense", "Qwen2ForCausalLM: no biases of q, k and v");
  is_refused("rope@0", "qwen2", "Qwen2ForCausalLM: layers without rotation\n");
  is_refused("learned_abs", "gpt2,parallel", "GPT2LMHeadModel: parallel");
  is_refused("alibi", "bloom,no-final-norm",
             "no class of transformers has no norm before the head");
  is_refused("rope", "llama,scaled-embedding", "embeddings times sqrt(d_model)");
  ModelConfig model = shaped("rope", "neox");
  model.sees_later = true;
  BOOST_CHECK_EXCEPTION(class_of(model), ConfigError, says("attention to later tokens"));
  model = shaped("alibi", "mpt");
  model.d_ff = 128;
  BOOST_CHECK_EXCEPTION(class_of(model), ConfigError,
                        says("MptForCausalLM: d_ff other than 4 d_model"));
}

Json config_of_class(const std::string& posenc, const std::string& architecture) {
  const std::string text = class_of(shaped(posenc, architecture)).config;
  return read_json({"test", "config.json", text});
}

BOOST_AUTO_TEST_CASE(rotation_is_told_by_old_and_new_keys) {
  const Json neox = config_of_class("rope_linear(scale=2, rotary_pct=0.5, base=500)", "neox");
  BOOST_TEST(neox["rotary_pct"] == 0.5);
  BOOST_TEST(neox["rotary_emb_base"] == 500);
  BOOST_TEST(neox["rope_scaling"]["factor"] == 2);
  BOOST_TEST(neox["rope_parameters"]["rope_type"] == "linear");
  BOOST_TEST(neox["rope_parameters"]["rope_theta"] == 500);
  BOOST_TEST(neox["rope_parameters"]["partial_rotary_factor"] == 0.5);
  const Json llama = config_of_class("rope", "llama");
  BOOST_TEST(llama["rope_scaling"].is_null());
  BOOST_TEST(llama["rope_theta"] == 10000);
  BOOST_TEST(!llama["rope_parameters"].contains("partial_rotary_factor"));
}

// Python rounds 100 x 0.58 down to 57.
BOOST_AUTO_TEST_CASE(a_share_gives_the_same_components_in_any_arithmetic) {
  ModelConfig model = shaped("rope(rotary_pct=0.58)", "neox");
  model.n_head = 2;
  model.d_model = 200;
  const std::string text = class_of(model).config;
  const double share = read_json({"test", "config.json", text})["rotary_pct"].get<double>();
  BOOST_TEST(static_cast<int>(100 * share) == 58);
  BOOST_TEST(share < 0.5801);
}

BOOST_AUTO_TEST_CASE(lengths_of_a_scaling_are_where_the_library_looks) {
  const Json dynamic = config_of_class("rope_dynamic_ntk(factor=2, original_length=32)", "llama");
  BOOST_TEST(dynamic["max_position_embeddings"] == 32);
  const Json yarn = config_of_class("rope_yarn(scale=4, original_length=16)", "llama");
  BOOST_TEST(yarn["max_position_embeddings"] == 64);
  BOOST_TEST(yarn["rope_parameters"]["original_max_position_embeddings"] == 16);
  BOOST_TEST(config_of_class("learned_abs(max_positions=77)", "gpt2")["n_positions"] == 77);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::hub
