#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/autograd.h"
#include "tests/layers/model_families.h"
#include "tests/layers/tiny_model.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_transformer_gradients)  // ctest: on_cuda
namespace {

// A few entries of each parameter against central differences of the whole model in float64.
void check_gradients(const ModelConfig& config, double width = 0.4) {
  const std::string& posenc = config.posenc;
  const Transformer model(config, 3, DType::f64);
  shake(model, width);
  const Tensor ids = random_ids({2, 9}, 1, 13), targets = random_ids({2, 9}, 2, 13);
  backward(model.loss(ids, targets));
  const NoGrad no_grad;
  const Random random{11, 0};
  uint64_t draw = 0;
  for (const Parameter& p : with_adapters(model))
    BOOST_TEST(p.value.grad().defined() == p.value.requires_grad(), p.name);
  for (Parameter p : model.trained_parameters()) {
    BOOST_REQUIRE_MESSAGE(p.value.grad().defined(), p.name);
    const std::vector<double> gradient = p.value.grad().to_vector();
    for (int entry = 0; entry < 4; ++entry) {
      const auto i = random.below(draw++, static_cast<uint64_t>(p.value.numel()));
      double& x = p.value.data<double>()[i];
      const double before = x, step = 1e-5;
      x = before + step;
      const double above = model.loss(ids, targets).item();
      x = before - step;
      const double below = model.loss(ids, targets).item();
      x = before;
      const double want = (above - below) / (2 * step);
      BOOST_TEST(std::abs(gradient[i] - want) < 1e-9 + 1e-6 * std::abs(want),
                 posenc << ": " << p.name << " element " << i << ", gradient " << gradient[i]
                        << ", central difference " << want);
    }
  }
}

void check_gradients(const std::string& posenc) { check_gradients(tiny_config(posenc)); }

BOOST_AUTO_TEST_CASE(relu_without_a_final_norm_and_with_a_scale) {
  ModelConfig config = tiny_config("kerple_log");
  config.activation = MlpActivation::relu;
  config.has_final_norm = false;
  config.scales_embedding = true;
  config.init = InitScheme::fairseq;
  check_gradients(config);
}
BOOST_AUTO_TEST_CASE(adaptive_input_and_softmax_with_their_dropout) {
  ModelConfig config = tiny_config("kerple_log");
  config.cutoffs = {4, 9};
  config.band_divisor = 2;
  config.tail_dropout = 0.25;
  config.activation_dropout = 0.25;
  config.attention_dropout = 0.25;
  check_gradients(config);
}
BOOST_AUTO_TEST_CASE(low_rank_adapters_of_every_layer) {
  ModelConfig config = tiny_config("kerple_log");
  config.adapters = AdapterConfig{.rank = 3,
                                  .alpha = 5,
                                  .targets = {"q", "k", "v", "dense", "up", "down", "head"},
                                  .dropout = 0.25,
                                  .also = {"norms", "posenc", "embedding"}};
  check_gradients(config);
  config.activation = MlpActivation::relu;
  config.adapters = AdapterConfig{.rank = 2, .targets = {"v", "up"}, .is_rank_stabilized = true};
  check_gradients(config);
}
BOOST_AUTO_TEST_CASE(families_of_models) {
  ModelConfig base = tiny_config("none");
  base.n_head = 4;
  for (auto [name, config] : model_families(base)) {
    BOOST_TEST_CONTEXT(name) check_gradients(config);
    config.adapters = AdapterConfig{.rank = 2, .targets = {"q", "v", "dense", "up", "down"}};
    if (config.is_gated()) config.adapters->targets.emplace_back("gate");
    // Without a mean, RMS norms are steep where weights are large: differences of a step are rough.
    BOOST_TEST_CONTEXT(name << " with adapters") check_gradients(config, 0.25);
  }
}
BOOST_AUTO_TEST_CASE(none) { check_gradients("none"); }
BOOST_AUTO_TEST_CASE(alibi_with_a_window) { check_gradients("alibi + window(4)"); }
BOOST_AUTO_TEST_CASE(kerple_log) { check_gradients("kerple_log"); }
BOOST_AUTO_TEST_CASE(rope) { check_gradients("rope"); }
BOOST_AUTO_TEST_CASE(learned_abs) { check_gradients("learned_abs"); }
BOOST_AUTO_TEST_CASE(sinusoidal) { check_gradients("sinusoidal"); }
BOOST_AUTO_TEST_CASE(sandwich) { check_gradients("sandwich"); }
BOOST_AUTO_TEST_CASE(a_mix_by_layer) { check_gradients("rope@0 + kerple_log@1"); }

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
