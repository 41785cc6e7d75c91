#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_gauss_wht1)  // ctest: on_cuda
namespace {

const GoldenTable& golden() {
  static const GoldenTable table{.key = "gauss_wht1", .parameters = {"r1"}};
  return table;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) { check_golden_tables(golden(), "learn=false"); }

BOOST_AUTO_TEST_CASE(derivatives_equal_the_golden_ones) { check_golden_derivatives(golden()); }

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  check_parameter_gradients("gauss_wht1");
}

BOOST_AUTO_TEST_CASE(initial_values_are_uniform) {
  const auto parameters = Composition("gauss_wht1", model_of(4000)).parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 1u);
  check_uniform_start(parameters[0], 0, 1, 0.01);
}

BOOST_AUTO_TEST_CASE(there_is_a_weight_and_no_bias) {
  const ScoreRule rule = rule_of(Composition("gauss_wht1(r1=0.05)", model_of(2)), 9);
  BOOST_TEST(!rule.bias.defined());
  BOOST_TEST(at_distances(rule.weight, {0}) == (std::vector<double>{1, 1}),
             boost::test_tools::per_element());
}

// Here and for the other three kernels: the bound of the rate is an argument.
BOOST_AUTO_TEST_CASE(rates_stay_above_gauss_rate_min) {
  const std::pair<const char*, size_t> cases[] = {
      {"gauss_wht1(gauss_rate_min=0.0625)", 0},
      {"gauss_wht2(gauss_rate_min=0.0625)", 0},
      {"gauss_bias2(gauss_rate_min=0.0625)", 1},
      {"gauss_bias3(gauss_rate_min=0.0625)", 1},
      {"gauss_wht1(gauss_rate_min=0.0625, constraint=straight_through)", 0},
      {"gauss_wht1(gauss_rate_min=0.0625, constraint=softplus)", 0}};
  for (const auto& [expression, index] : cases) {
    Composition c(expression, model_of(2));
    store(c, index, {-7, -7});
    c.project();
    const ScoreRule rule = rule_of(c, 2);
    const std::vector<double> now =
        at_distances(rule.bias.defined() ? rule.bias : rule.weight, {0, 1});
    for (const size_t h : {0, 1})
      BOOST_TEST(std::abs(-std::log(now[2 * h + 1] / now[2 * h]) - 0.0625) < 1e-3, expression);
  }
}

BOOST_AUTO_TEST_CASE(a_rate_below_gauss_rate_min_is_refused) {
  BOOST_TEST(error_of_expression("gauss_wht1(r1=[0.5,0.001])", model_of(2)) ==
             "[posenc] gauss_wht1(r1): expected rates >= gauss_rate_min, 0.01, got 0.001; give a "
             "smaller gauss_rate_min at column 15\n"
             "  gauss_wht1(r1=[0.5,0.001])\n"
             "                ^");
  BOOST_TEST(error_of_expression("gauss_bias2(r2=1e-5, gauss_rate_min=1e-6)", model_of(2)) == "");
  BOOST_TEST(error_of_expression("gauss_bias2(gauss_rate_min=0)", model_of(2))
                 .find("gauss_bias2(gauss_rate_min): expected a number > 0, got 0") !=
             std::string::npos);
}

// The smooth map, too, keeps a width of about 700 tokens, which is rate 1e-6.
BOOST_AUTO_TEST_CASE(small_rates_survive_softplus) {
  const Composition c("gauss_wht1(r1=2e-6, gauss_rate_min=1e-6, constraint=softplus)", model_of(1));
  BOOST_TEST(all_close(at_distances(rule_of(c, 701).weight, {700}),
                       std::vector<double>{std::exp(-2e-6 * 490000)}, Tolerance(1e-9)));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
