#include <boost/test/unit_test.hpp>

#include "apps/run/architecture.h"
#include "apps/run/resolved_config.h"
#include "tests/support/messages.h"

namespace farfield::run {
BOOST_AUTO_TEST_SUITE(test_architecture)
namespace {

ModelConfig made(const std::string& text, ModelConfig model = {}) {
  set_architecture(text, model);
  return model;
}

BOOST_AUTO_TEST_CASE(a_text_comes_back_in_its_canonical_form) {
  for (const char* text :
       {"neox", "norm=rms,norm-eps=1e-06,mlp=swiglu,kv-heads=2,head-dim=16,bias=qkv,tied",
        "mlp=gelu_tanh,bias=qkv+dense+norm,parallel", "mlp=relu,no-final-norm,scaled-embedding",
        "mlp=gelu_tanh,tied,embedding-norm", "bias=none,tied"})
    BOOST_TEST(architecture_of(made(text)) == text);
}

BOOST_AUTO_TEST_CASE(families_are_the_parts_of_their_models) {
  BOOST_TEST(architecture_of(made("llama")) == "norm=rms,mlp=swiglu,bias=none");
  BOOST_TEST(architecture_of(made("qwen2, kv-heads=2")) ==
             "norm=rms,mlp=swiglu,kv-heads=2,bias=qkv");
  BOOST_TEST(architecture_of(made("llama, bias=all")) ==
             "norm=rms,mlp=swiglu,bias=qkv+dense+mlp");  // RMS norms have none
  BOOST_TEST(architecture_of(preset("llama-tiny")) == "norm=rms,mlp=swiglu,kv-heads=2,bias=none");
  BOOST_TEST(architecture_of(preset("tiny")) == "neox");
}

BOOST_AUTO_TEST_CASE(an_architecture_replaces_the_presets_and_leaves_its_sizes) {
  const ModelConfig model = made("neox", preset("llama-tiny"));
  BOOST_TEST(architecture_of(model) == "neox");
  BOOST_TEST(model.d_ff == 176);
  BOOST_TEST(model.hidden_dropout == preset("llama-tiny").hidden_dropout);
}

BOOST_AUTO_TEST_CASE(other_words_are_refused_with_the_nearest) {
  const auto refused = [](const char* text, const std::string& what) {
    BOOST_CHECK_EXCEPTION(made(text), ConfigError, says(what));
  };
  refused("lama", "did you mean 'llama'?");
  refused("norm=rmsnorm", "expected one of layer, rms");
  refused("norm", "expected 'norm=VALUE'");
  refused("tied=yes", "expected 'tied' without a value");
  refused("tied,tied", "expected 'tied' once");
  refused("tied,llama", "as the first word");
  refused("bias=qkv+head", "expected one of qkv, dense, mlp, norm");
  refused("kv-heads=two", "kv-heads");
}

BOOST_AUTO_TEST_CASE(config_conf_has_an_architecture_only_where_it_differs_from_the_presets) {
  RunConfig config;
  config.data = {"corpus"};
  BOOST_TEST(value_of(resolve(config).settings, "architecture") == "");
  config.architecture = "neox";
  BOOST_TEST(value_of(resolve(config).settings, "architecture") == "");
  config.preset = "llama-tiny";
  BOOST_TEST(value_of(resolve(config).settings, "architecture") == "neox");
  config.architecture = "llama,kv-heads=2";
  BOOST_TEST(value_of(resolve(config).settings, "architecture") == "");
  config.architecture = "llama,kv-heads=1";
  const ResolvedConfig resolved = resolve(config);
  BOOST_TEST(value_of(resolved.settings, "architecture") ==
             "norm=rms,mlp=swiglu,kv-heads=1,bias=none");
  const ResolvedConfig again = config_of_file("config.conf", resolved.settings);
  BOOST_TEST(architecture_of(again.model) == architecture_of(resolved.model));
  config.architecture = "llama,kv-heads=3";
  BOOST_CHECK_EXCEPTION(resolve(config), ConfigError, says("n_kv_head"));
}

BOOST_AUTO_TEST_CASE(another_rotation_in_a_test_has_the_frequencies_of_the_trained_one) {
  RunConfig config;
  config.data = {"corpus"};
  config.posenc = "rope(base=50000, rotary_pct=0.5)";
  const ResolvedConfig trained = resolve(config);
  BOOST_TEST(trained.posenc() == "rope(base=50000, rotary_pct=0.5)");
  BOOST_TEST(canonical_posenc("rope", trained) == trained.posenc());
  BOOST_TEST(canonical_posenc("rope_linear(scale=2)", trained).find("base=50000") !=
             std::string::npos);
  BOOST_TEST(canonical_posenc("rope(base=10000)", trained) == "rope(rotary_pct=0.5)");
  BOOST_TEST(canonical_posenc("sinusoidal", trained) == "sinusoidal");
  config.posenc = "alibi";
  BOOST_TEST(canonical_posenc("rope", resolve(config)) == "rope");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::run
