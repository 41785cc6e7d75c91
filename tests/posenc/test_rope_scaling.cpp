// The variants of rope that reach beyond the training length: their frequencies.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_rope_scaling)  // ctest: on_cuda
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;
using Json = nlohmann::json;

const Json& cases() {
  static const Json& json = golden("rope_scaling.json")["cases"];
  return json;
}
Config model_for(int64_t dims, int64_t train_len) {
  return {.head_dim = dims, .d_model = dims, .train_len = train_len, .dtype = DType::f64};
}
Config model_for(const Json& c) {
  return model_for(c["rotary_dims"].get<int64_t>(), c["original_length"].get<int64_t>());
}

struct Turn {
  std::vector<double> inv_freq;
  double factor;  // of cos and sin, the same for all
};
// Read off the tables for position 1 of n: no angle there is above 1 radian.
Turn turn_of(const std::string& expression, const Config& config, int64_t n = 2) {
  const Rotation rotation =
      Composition(expression, config).plan(n, n, Phase::eval).layers[0].rotation;
  const int64_t width = rotation.cos.dim(1);
  const auto cos = rotation.cos.view({width}, width).to_vector();
  const auto sin = rotation.sin.view({width}, width).to_vector();
  Turn turn{{}, std::hypot(cos[0], sin[0])};
  for (size_t i = 0; i < cos.size(); ++i) {
    turn.inv_freq.push_back(std::atan2(sin[i], cos[i]));
    BOOST_TEST(std::abs(std::hypot(cos[i], sin[i]) - turn.factor) < 1e-14);
  }
  return turn;
}
void check(const Turn& got, const Json& inv_freq, double factor, const std::string& what) {
  BOOST_TEST(all_close(got.inv_freq, golden_numbers(inv_freq), Tolerance(0, 1e-12)), what);
  BOOST_TEST(std::abs(got.factor - factor) < 1e-13, what);
}

BOOST_AUTO_TEST_CASE(frequencies_equal_the_golden_ones) {
  for (const Json& c : cases()) {
    const Config config = model_for(c);
    const std::string scale = to_text(c["scale"].get<double>());
    check(turn_of("rope", config), c["none_inv_freq"], 1, "rope");
    check(turn_of("rope_linear(" + scale + ')', config), c["linear_inv_freq"], 1, "linear");
    check(turn_of("rope_ntk(" + scale + ')', config), c["ntk"]["inv_freq"], 1, "ntk");
    for (const char* ramp : {"index", "wavelength"}) {
      const Json& yarn = c[concat("yarn_", ramp, "_ramp")];
      check(turn_of(concat("rope_yarn(", scale, ", ramp=", ramp, ')'), config), yarn["inv_freq"],
            yarn["mscale"].get<double>(), concat("yarn ", ramp));
    }
    const Json& llama3 = c["llama3"];
    check(turn_of(concat("rope_llama3(", scale, ", low=", llama3["low_freq_factor"].get<double>(),
                         ", high=", llama3["high_freq_factor"].get<double>(), ')'),
                  config),
          llama3["inv_freq"], 1, "llama3");
  }
}

BOOST_AUTO_TEST_CASE(dynamic_variants_follow_the_length_of_the_input) {
  for (const Json& c : cases()) {
    for (const Json& want : c["dynamic_ntk"]) {
      const std::string text = concat("rope_dynamic_ntk(", want["factor"].get<double>(), ')');
      const auto got = turn_of(text, model_for(c), want["seq_len"].get<int64_t>()).inv_freq;
      BOOST_TEST(all_close(std::vector<double>{got[0], got[1], got.back()},
                           golden_numbers(want["inv_freq_0_1_last"]), Tolerance(0, 1e-12)),
                 text << " at " << want["seq_len"]);
    }
    for (const Json& want : c["yarn_dynamic"])
      check(turn_of("rope_yarn(auto)", model_for(c), want["seq_len"].get<int64_t>()),
            want["inv_freq"], want["mscale"].get<double>(), "dynamic yarn");
  }
}

BOOST_AUTO_TEST_CASE(up_to_the_training_length_dynamic_variants_are_rope) {
  const Config config = model_for(8, 16);
  const Rotation rope = Composition("rope", config).plan(16, 16, Phase::train).layers[0].rotation;
  for (const char* expression :
       {"rope_linear(1)", "rope_linear(auto)", "rope_ntk(1)", "rope_dynamic_ntk",
        "rope_dynamic_ntk(factor=4)", "rope_yarn(1)", "rope_yarn(auto)", "rope_llama3(1)"}) {
    const Composition c(expression, config);
    const Rotation got = c.plan(16, 16, Phase::train).layers[0].rotation;
    BOOST_TEST(all_close(got.cos, rope.cos, Tolerance(1e-15)), expression);
    BOOST_TEST(all_close(got.sin, rope.sin, Tolerance(1e-15)), expression);
  }
}

BOOST_AUTO_TEST_CASE(rope_linear_divides_by_the_length_over_the_training_length_on_its_own) {
  const Config config = model_for(8, 16);
  const auto angles = [&](const char* expression, int64_t n) {
    return Composition(expression, config).plan(n, n, Phase::eval).layers[0].rotation;
  };
  BOOST_TEST(same_bits(angles("rope_linear(auto)", 64).cos, angles("rope_linear(4)", 64).cos));
  BOOST_TEST(same_bits(angles("rope_linear(auto, original_length=32)", 64).sin,
                       angles("rope_linear(2)", 64).sin));
}

// rope_linear remaps its layer: a table beside it is read at the divided distances.
BOOST_AUTO_TEST_CASE(rope_linear_divides_the_distances_of_tables_and_the_ids_of_the_input) {
  const Config config = model_of(2);
  const Tensor bias = rule_of(Composition("rope_linear(4) + alibi(0.5)", config), 9).bias;
  BOOST_TEST(
      all_close(bias, rule_of(Composition("alibi(0.125)", config), 9).bias, Tolerance(1e-15)));
  const auto embedding = [&](const char* expression) {
    return Composition(expression, config).plan(9, 9, Phase::eval).embedding;
  };
  const Tensor divided = embedding("rope_linear(4) + sinusoidal");
  BOOST_TEST(same_bits(slice(divided, 0, 8, 9), slice(embedding("sinusoidal"), 0, 2, 3)));
  BOOST_TEST(same_bits(embedding("rope_linear(4)@0 + sinusoidal"), embedding("sinusoidal")));
}

BOOST_AUTO_TEST_CASE(partial_rotation_scales_by_the_rotated_width) {
  const Config wide = model_for(32, 16), narrow = model_for(8, 16);
  for (const std::string name : {"rope_ntk", "rope_yarn", "rope_linear", "rope_llama3"})
    BOOST_TEST(all_close(turn_of(name + "(4, rotary_pct=0.25)", wide).inv_freq,
                         turn_of(name + "(4)", narrow).inv_freq, Tolerance(0)),
               name);
}

BOOST_AUTO_TEST_CASE(arguments_out_of_range_are_refused) {
  const Config config = model_for(8, 16);
  BOOST_TEST(
      error_of_expression("rope_linear", config) ==
      "[posenc] rope_linear needs scale, auto or a number >= 1 (how much longer than "
      "original_length inputs are; auto: as each is); write rope_linear(scale=...) at column "
      "1\n"
      "  rope_linear\n"
      "  ^");
  BOOST_TEST(error_of_expression("rope_ntk(0.5)", config) ==
             "[posenc] rope_ntk(scale): expected a number >= 1, got 0.5 at column 10\n"
             "  rope_ntk(0.5)\n"
             "           ^");
  BOOST_TEST(error_of_expression("rope_ntk(4)", model_for(2, 16)) ==
             "[posenc] rope_ntk(rotary_pct): expected at least 4 rotated components, of which the "
             "first two keep their frequency, got 2 at column 1\n  rope_ntk(4)\n  ^");
  BOOST_TEST(error_of_expression("rope_yarn(4, beta_fast=1)", config)
                 .find("rope_yarn(beta_fast): expected more turns than beta_slow = 1, got 1") !=
             std::string::npos);
  BOOST_TEST(error_of_expression("rope_yarn(4, base=2, original_length=1000000)", config)
                 .find("whose ramp goes from index 49 down to 7") != std::string::npos);
  BOOST_TEST(error_of_expression("rope_llama3(high=1)", config)
                 .find("rope_llama3(high): expected more than low = 1, got 1") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_canonical_text_says_what_the_training_length_was) {
  const Config config = model_for(8, 16);
  BOOST_TEST(Composition("rope_yarn(auto)", config).canonical() ==
             "rope_yarn(scale=auto, original_length=16)");
  BOOST_TEST(Composition("rope_linear(4, layout=half)", config).canonical() ==
             "rope_linear(scale=4, original_length=16)");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
