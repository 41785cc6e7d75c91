// LongRoPE: its frequencies below and beyond the original length. Logits of a model with it, as
// transformers computes them, are in tests/golden/hub.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_rope_longrope)
namespace {

Config model_with(int64_t head_dim, int64_t train_len = 16) {
  return {.head_dim = head_dim, .d_model = head_dim, .train_len = train_len, .dtype = DType::f64};
}

Rotation rotation_of(const std::string& expression, const Config& config, int64_t n) {
  return Composition(expression, config).plan(n, n, Phase::eval).layers[0].rotation;
}

// What turns from position 0 to position 1.
std::vector<double> angles(const Rotation& rotation) {
  const int64_t width = rotation.cos.dim(1);
  const auto cos = rotation.cos.view({width}, width).to_vector(),
             sin = rotation.sin.view({width}, width).to_vector();
  std::vector<double> all;
  for (size_t i = 0; i < cos.size(); ++i) all.push_back(std::atan2(sin[i], cos[i]));
  return all;
}

// cos of position 0 is the factor itself.
double factor_of(const std::string& expression, const Config& config) {
  return rotation_of(expression, config, 2).cos.to_vector()[0];
}

BOOST_AUTO_TEST_CASE(the_total_length_chooses_the_divisors) {
  const std::string text =
      "rope_longrope(long_factor=[1, 2, 4, 8], short_factor=[1, 1, 1.25, 1.5], original_length=8)";
  const Config config = model_with(8);
  // base^(-2i/8) = 10^-i
  const std::vector<double> below{1, 0.1, 0.01 / 1.25, 0.001 / 1.5},
      beyond{1, 0.05, 0.0025, 0.000125};
  BOOST_TEST(all_close(angles(rotation_of(text, config, 8)), below, Tolerance(0, 1e-12)));
  BOOST_TEST(all_close(angles(rotation_of(text, config, 9)), beyond, Tolerance(0, 1e-12)));
}

BOOST_AUTO_TEST_CASE(one_number_divides_all_frequencies) {
  const Config config = model_with(8);
  const Rotation rope = rotation_of("rope", config, 16);
  BOOST_TEST(all_close(rotation_of("rope_longrope(4)", config, 16).cos, rope.cos, Tolerance(0)));
  BOOST_TEST(all_close(angles(rotation_of("rope_longrope(4)", config, 17)),
                       angles(rotation_of("rope_linear(4)", config, 17)), Tolerance(0, 1e-12)));
  BOOST_TEST(same_bits(rotation_of("rope_longrope([2, 2, 2, 2])", config, 17).sin,
                       rotation_of("rope_longrope(2)", config, 17).sin));
}

// Phi-3-mini-128k goes from 4096 to 131072 tokens: sqrt(1 + 5 ln 2/(12 ln 2)).
BOOST_AUTO_TEST_CASE(the_factor_of_cos_and_sin_is_that_of_phi_3) {
  const Config config = model_with(8, 4096);
  BOOST_TEST(std::abs(factor_of("rope_longrope(4, scale=32)", config) - std::sqrt(17.0 / 12)) <
             1e-15);
  BOOST_TEST(factor_of("rope_longrope(4)", config) == 1);
  BOOST_TEST(factor_of("rope_longrope(4, scale=32, attention_factor=1.5)", config) == 1.5);
  BOOST_TEST(factor_of("rope_longrope(4, original_length=1)", config) == 1);
}

BOOST_AUTO_TEST_CASE(a_list_has_a_number_for_each_pair_that_turns) {
  BOOST_CHECK_NO_THROW(
      Composition("rope_longrope([1, 2], rotary_pct=0.5)", model_with(8)).plan(2, 2, Phase::eval));
  BOOST_TEST(error_of_expression("rope_longrope([1, 2])", model_with(8)) ==
             "[posenc] rope_longrope(long_factor): expected a number or a list of 4, one for each "
             "of the pairs of components that turn, got 2 of them at column 15\n"
             "  rope_longrope([1, 2])\n"
             "                ^");
  BOOST_TEST(error_of_expression("rope_longrope(4, short_factor=[1, 0, 1, 1])", model_with(8))
                 .find("rope_longrope(short_factor): expected a number > 0 or a list of them, got "
                       "[1,0,1,1]") != std::string::npos);
  BOOST_TEST(error_of_expression("rope_longrope(4, scale=2, original_length=1)", model_with(8))
                 .find("rope_longrope(original_length): expected more than 1 token, got 1") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_canonical_text_has_the_lists) {
  BOOST_TEST(Composition("rope_longrope([1, 2.5], scale=1)", model_with(4)).canonical() ==
             "rope_longrope(long_factor=[1,2.5], original_length=16, attention_factor=1)");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
