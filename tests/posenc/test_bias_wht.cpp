#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_bias_wht)  // ctest: on_cuda
namespace {

const GoldenTable& golden() {
  static const GoldenTable table{.key = "bias_wht", .parameters = {"r1", "r2", "r3", "r4"}};
  return table;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) { check_golden_tables(golden(), "learn=false"); }

BOOST_AUTO_TEST_CASE(derivatives_equal_the_golden_ones) { check_golden_derivatives(golden()); }

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  check_parameter_gradients("bias_wht");
}

BOOST_AUTO_TEST_CASE(initial_values_are_uniform_between_the_published_bounds) {
  const auto parameters = Composition("bias_wht", model_of(4000)).parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 4u);
  for (const size_t i : {0, 2}) check_uniform_start(parameters[i], 0, 1, 0.01);
  for (const size_t i : {1, 3}) check_uniform_start(parameters[i], 0, 2, 0.01);
}

BOOST_AUTO_TEST_CASE(it_is_kerple_power_with_the_weight_of_gauss_wht2) {
  const ScoreRule both =
      rule_of(Composition("bias_wht(r1=0.2, r2=0.8, r3=0.3, r4=1.1)", model_of(2)), 40);
  const ScoreRule bias = rule_of(Composition("kerple_power(r1=0.2, r2=0.8)", model_of(2)), 40);
  const ScoreRule weight = rule_of(Composition("gauss_wht2(r1=0.3, r2=1.1)", model_of(2)), 40);
  BOOST_TEST(same_bits(both.bias, bias.bias));
  BOOST_TEST(same_bits(both.weight, weight.weight));
}

BOOST_AUTO_TEST_CASE(bias_scale_leaves_the_weight_alone) {
  const std::string given = "bias_wht(r1=0.2, r2=0.8, r3=0.3, r4=1.1";
  const ScoreRule plain = rule_of(Composition(given + ")", model_of(2)), 9);
  const ScoreRule scaled = rule_of(Composition(given + ", bias_scale=0.25)", model_of(2)), 9);
  BOOST_TEST(all_close(scaled.bias, plain.bias * 0.25, Tolerance(0)));
  BOOST_TEST(same_bits(scaled.weight, plain.weight));
}

BOOST_AUTO_TEST_CASE(composed_weights_multiply_and_biases_add) {
  const std::string a = "bias_wht(r1=0.2, r2=0.8, r3=0.3, r4=1.1)", b = "gauss_wht1(r1=0.05)";
  const ScoreRule both = rule_of(
      Composition(a + " + " + b + " + kerple_log(r1=1, r2=0.5) + alibi(0.5)", model_of(2)), 30);
  const ScoreRule first = rule_of(Composition(a, model_of(2)), 30);
  const ScoreRule second = rule_of(Composition(b, model_of(2)), 30);
  const Tensor log = rule_of(Composition("kerple_log(r1=1, r2=0.5)", model_of(2)), 30).bias;
  const Tensor alibi = rule_of(Composition("alibi(0.5)", model_of(2)), 30).bias;
  BOOST_TEST(all_close(both.weight, first.weight * second.weight, Tolerance(1e-15)));
  BOOST_TEST(all_close(both.bias, first.bias + log + alibi, Tolerance(1e-13)));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
