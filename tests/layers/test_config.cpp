#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/error.h"
#include "layers/config.h"
#include "tests/support/golden.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_config)
namespace {

BOOST_AUTO_TEST_CASE(the_published_models_have_the_published_numbers_of_parameters) {
  const auto counts = test::golden("model.json")["param_counts"];
  BOOST_TEST(parameter_count(preset("neox-162m")) == counts["162M"]["total"].get<int64_t>());
  BOOST_TEST(parameter_count(preset("neox-162m")) == 162'322'944);
  BOOST_TEST(parameter_count(preset("neox-1.3b")) ==
             counts["1.3B_vocab_multiple_256"]["total"].get<int64_t>());
  BOOST_TEST(parameter_count(preset("neox-1.3b")) == 1'415'172'096);
  BOOST_TEST(parameter_count(preset("baevski-247m")) == 246'933'504);
  ModelConfig other = preset("neox-1.3b");
  other.vocab_size = 50304;
  BOOST_TEST(parameter_count(other) == counts["1.3B_vocab_multiple_128"]["total"].get<int64_t>());
}

BOOST_AUTO_TEST_CASE(the_presets_have_their_sizes_and_training_recipes) {
  struct Row {
    const char* name;
    int64_t n_layer, n_head, d_model, vocab_size, train_len, steps;
    double peak_lr, warmup_fraction;
  };
  const Row rows[] = {{"smoke", 2, 4, 32, 320, 128, 600, 3e-3, 0.02},
                      {"tiny", 4, 4, 64, 320, 128, 1200, 2e-3, 0.02},
                      {"mini", 2, 4, 128, 320, 128, 1500, 1e-3, 0.02},
                      {"small", 4, 4, 256, 320, 128, 1500, 1e-3, 0.02},
                      {"llama-tiny", 4, 4, 64, 320, 128, 1200, 2e-3, 0.02},
                      {"llama-small", 4, 4, 256, 320, 128, 1500, 1e-3, 0.02},
                      {"neox-162m", 12, 12, 768, 50304, 512, 50000, 6e-4, 0.01},
                      {"neox-1.3b", 24, 16, 2048, 50432, 512, 150000, 2e-4, 0.01}};
  BOOST_TEST(presets().size() == std::size(rows) + 1);  // and the preset of the next case
  for (const Row& row : rows) {
    const ModelConfig& model = preset(row.name);
    const TrainDefaults& train = train_defaults(row.name);
    BOOST_TEST(model.n_layer == row.n_layer);
    BOOST_TEST(model.n_head == row.n_head);
    BOOST_TEST(model.d_model == row.d_model);
    BOOST_TEST(model.d_ff ==
               (model.is_gated() ? (row.d_model == 64 ? 176 : 688) : 4 * row.d_model));
    BOOST_TEST(model.vocab_size == row.vocab_size);
    BOOST_TEST(model.train_len == row.train_len);
    BOOST_TEST(model.ln_eps == 1e-5);
    BOOST_TEST(model.init_std == 0.02);
    BOOST_TEST(train.batch_size == 32);
    BOOST_TEST(train.steps == row.steps);
    BOOST_TEST(train.peak_lr == row.peak_lr);
    BOOST_TEST(train.warmup_fraction == row.warmup_fraction);
    BOOST_TEST(train.max_grad_norm == 1);
    BOOST_TEST(train.weight_decay == 0);
    validate(model);
  }
}

BOOST_AUTO_TEST_CASE(baevski_has_the_sizes_and_the_recipe_of_wikitext_103) {
  const ModelConfig& model = preset("baevski-247m");
  const TrainDefaults& train = train_defaults("baevski-247m");
  BOOST_TEST(model.n_layer == 16);
  BOOST_TEST(model.n_head == 8);
  BOOST_TEST(model.head_dim() == 128);
  BOOST_TEST(model.d_ff == 4096);
  BOOST_TEST(model.vocab_size == 267'744);
  const int64_t sizes[] = {20'000, 40'000, 207'744}, widths[] = {1024, 256, 64};
  for (int64_t i = 0; i < 3; ++i) {
    BOOST_TEST(model.band_size(i) == sizes[i]);
    BOOST_TEST(model.band_width(i) == widths[i]);
  }
  BOOST_CHECK(model.activation == MlpActivation::relu);
  BOOST_CHECK(model.init == InitScheme::fairseq);
  BOOST_TEST(!model.has_final_norm);
  BOOST_TEST(model.scales_embedding);
  BOOST_TEST(model.hidden_dropout == 0.3);
  BOOST_TEST(model.attention_dropout == 0.1);
  BOOST_TEST(model.activation_dropout == 0.1);
  BOOST_TEST(model.tail_dropout == 0.2);
  BOOST_TEST(train.batch_size * model.train_len == 73'728);  // 8 devices of 9216
  BOOST_TEST(train.steps == 286'000);
  BOOST_CHECK(train.optimizer == OptimizerKind::nag);
  BOOST_TEST(train.momentum == 0.99);
  BOOST_TEST(train.max_grad_norm == 0.1);
  const Schedule schedule{train.peak_lr,  train.steps,  train.warmup_fraction,
                          train.start_lr, train.end_lr, train.schedule};
  BOOST_TEST(learning_rate(schedule, 1) == 1e-7);
  BOOST_TEST(learning_rate(schedule, 16'001) == 1);
  BOOST_TEST(std::abs(learning_rate(schedule, 286'001) - 1e-4) < 1e-15);
  validate(model);
}

BOOST_AUTO_TEST_CASE(an_unknown_preset_is_answered_with_the_nearest_known_one) {
  BOOST_TEST(message_of<ConfigError>([] { preset("smal"); }) ==
             "[model] expected a preset out of smoke, tiny, mini, small, llama-tiny, llama-small, "
             "neox-162m, neox-1.3b, "
             "baevski-247m, got 'smal'; did you mean 'small'?");
}

BOOST_AUTO_TEST_CASE(sizes_that_make_no_sense_are_refused) {
  const auto message = [](auto change) {
    ModelConfig config;
    change(config);
    return message_of<ConfigError>([&] { validate(config); });
  };
  BOOST_TEST(message([](ModelConfig& c) { c.n_layer = 0; }) ==
             "[model] expected n_layer from 1 to 100000, got 0");
  BOOST_TEST(message([](ModelConfig& c) { c.d_model = -128; }) ==
             "[model] expected d_model from 1 to 1048576, got -128");
  BOOST_TEST(message([](ModelConfig& c) { c.n_head = 3; }) ==
             "[model] expected d_model to be a multiple of n_head, got d_model = 128 and n_head = "
             "3");
  BOOST_TEST(message([](ModelConfig& c) { c.vocab_size = int64_t{1} << 31; }) ==
             "[model] expected vocab_size from 1 to 2147483647, got 2147483648");
  BOOST_TEST(message([](ModelConfig& c) { c.ln_eps = 0; }) ==
             "[model] expected a finite ln_eps > 0, got 0");
  BOOST_TEST(message([](ModelConfig& c) { c.init_std = -1; }) ==
             "[model] expected a finite init_std >= 0, got -1");
  for (const double p : {-0.1, 1.0, std::nan("")})
    BOOST_TEST(message([p](ModelConfig& c) { c.hidden_dropout = p; }) ==
               concat("[model] expected hidden_dropout from 0 to below 1, got ", p));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
