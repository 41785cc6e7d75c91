#include <boost/test/unit_test.hpp>

#include "apps/train/timed_step.h"
#include "apps/train/training_memory.h"
#include "tests/support/messages.h"

namespace farfield::train {
BOOST_AUTO_TEST_SUITE(test_training_memory)
namespace {

ModelConfig config_of(const char* preset, int64_t n_layer, int64_t train_len) {
  ModelConfig config = farfield::preset(preset);
  config.n_layer = n_layer;
  config.vocab_size = 320;
  config.train_len = train_len;
  config.posenc = "alibi";
  return config;
}

ModelConfig encoder_of(const char* preset, int64_t n_layer, int64_t train_len) {
  ModelConfig config = config_of(preset, n_layer, train_len);
  config.posenc = "sinusoidal";
  config.sees_later = true;
  return config;
}

// What a step of training took of the allocator at its most.
double measured(const ModelConfig& config, const StepShape& shape, DType dtype) {
  TimedStep timed(config, shape, dtype, Device{}, /*uses_graph=*/false);
  for (int i = 0; i < 2; ++i) timed.run();  // moments come with the first
  return static_cast<double>(timed.peak_bytes());
}

ModelConfig adapted(ModelConfig config) {
  config.adapters = AdapterConfig{.rank = 8, .targets = {"q", "v", "up"}};
  return config;
}

// Of few tokens, whose activations are small: frozen weights once, and of adapters weights,
// gradients and two moments.
BOOST_AUTO_TEST_CASE(frozen_weights_have_no_gradients_and_no_moments) {
  const ModelConfig config = adapted(config_of("small", 4, 8));
  const auto n_own = static_cast<double>(parameter_count(config));
  const double n_adapter = 4 * 8 * (2 * 2 * 256 + 256 + 1024);
  const double peak = measured(config, {.batch_size = 1}, DType::f32);
  BOOST_TEST_MESSAGE(
      "peak / (4 bytes a weight + 16 an adapter weight): " << peak / (4 * n_own + 16 * n_adapter));
  BOOST_TEST(peak < 1.1 * (4 * n_own + 16 * n_adapter));
  BOOST_TEST(peak > 4 * n_own + 16 * n_adapter);
}

BOOST_AUTO_TEST_CASE(the_estimate_is_near_what_the_allocator_gave) {
  struct Case {
    ModelConfig config;
    StepShape shape;
    DType dtype = DType::f32;
  };
  for (const Case& c : {Case{config_of("mini", 2, 128), {.batch_size = 16}},
                        Case{config_of("mini", 2, 128), {.batch_size = 16}, DType::bf16},
                        Case{config_of("mini", 6, 256), {.batch_size = 8}},
                        Case{config_of("mini", 6, 256), {.batch_size = 8, .accumulate = 4}},
                        Case{config_of("mini", 6, 256), {.batch_size = 8, .checkpointing = true}},
                        Case{config_of("small", 3, 512), {.batch_size = 2}},
                        Case{adapted(config_of("small", 3, 512)), {.batch_size = 2}},
                        Case{adapted(config_of("mini", 6, 256)), {.batch_size = 8}},
                        Case{config_of("tiny", 4, 2048), {.batch_size = 1}},
                        Case{encoder_of("tiny", 4, 2048), {.batch_size = 1}},
                        Case{encoder_of("mini", 6, 256), {.batch_size = 8}},
                        Case{encoder_of("mini", 6, 256), {.batch_size = 8, .accumulate = 4}},
                        Case{encoder_of("mini", 2, 128), {.batch_size = 16}, DType::bf16},
                        Case{encoder_of("mini", 6, 256), {.batch_size = 8, .checkpointing = true}},
                        Case{encoder_of("small", 3, 512), {.batch_size = 2}}}) {
    const double estimate = training_bytes(c.config, c.shape, c.dtype);
    const double share = measured(c.config, c.shape, c.dtype) / estimate;
    BOOST_TEST_MESSAGE(c.config.n_layer << " x " << c.config.d_model << ", " << c.shape.batch_size
                                        << " / " << c.shape.accumulate << " x "
                                        << c.config.train_len << ": " << share);
    BOOST_TEST(share <= 1.15);
    BOOST_TEST(share >= 0.75);
  }
}

run::RunConfig long_run() {
  run::RunConfig config;
  config.train_len = 100000;
  return config;
}

BOOST_AUTO_TEST_CASE(a_step_that_does_not_fit_is_told_with_ways_out) {
  const std::string warning = memory_warning(run::resolve(long_run()), 320, int64_t{2} << 30);
  for (const char* part :
       {"32 x 100000 tokens takes about ", " GiB of memory, and 2.0 GiB", "--train-len", "--batch",
        "--accumulate", "--checkpoint-activations", "--precision bf16"})
    BOOST_TEST(warning.find(part) != std::string::npos, part << " is missing in " << warning);
}

BOOST_AUTO_TEST_CASE(ways_that_are_taken_already_are_not_offered) {
  run::RunConfig config = long_run();
  config.batch = 4;
  config.accumulate = 4;
  config.checkpoint_activations = true;
  config.precision = "bf16";
  const std::string warning = memory_warning(run::resolve(config), 320, int64_t{1} << 28);
  BOOST_TEST(warning.find("tokens takes about") != std::string::npos);
  for (const char* part : {"--accumulate", "--checkpoint-activations", "--precision"})
    BOOST_TEST(warning.find(part) == std::string::npos, warning);
}

BOOST_AUTO_TEST_CASE(a_step_that_fits_or_a_machine_that_does_not_say_gives_no_warning) {
  BOOST_TEST(memory_warning(run::resolve({}), 320, int64_t{8} << 30).empty());
  BOOST_TEST(memory_warning(run::resolve(long_run()), 320, 0).empty());
}

BOOST_AUTO_TEST_CASE(requests_beyond_all_integers_are_told_too) {
  run::ResolvedConfig config = run::resolve(long_run());
  config.model.train_len = int64_t{1} << 60;
  BOOST_TEST(!memory_warning(config, 320, int64_t{1} << 40).empty());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::train
