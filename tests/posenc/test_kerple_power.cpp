#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_kerple_power)  // ctest: on_cuda
namespace {

const GoldenTable& golden() {
  static const GoldenTable table{.key = "kerple_power", .parameters = {"r1", "r2"}};
  return table;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) { check_golden_tables(golden(), "learn=false"); }

BOOST_AUTO_TEST_CASE(derivatives_equal_the_golden_ones) { check_golden_derivatives(golden()); }

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  check_parameter_gradients("kerple_power");
}

BOOST_AUTO_TEST_CASE(initial_values_are_uniform_between_the_published_bounds) {
  const auto parameters = Composition("kerple_power", model_of(4000)).parameters();
  BOOST_TEST(parameters[0].name == "kerple_power.r1");
  BOOST_TEST(parameters[1].name == "kerple_power.r2");
  check_uniform_start(parameters[0], 0, 1, 0.01);
  check_uniform_start(parameters[1], 0, 2, 0.01);
}

BOOST_AUTO_TEST_CASE(with_power_one_it_is_alibi_with_learned_slopes) {
  const Tensor slopes = Tensor::from({0.5, 0.125, 0.03}, {3}, DType::f64);
  Value theta;
  theta.kind = Value::Kind::list;
  for (const double x : slopes.to_vector()) theta.list.push_back(std::log(x));
  const Composition power("kerple_power(r1=[0.5,0.125,0.03], r2=1)", model_of(3));
  const Composition alibi(concat("alibi_learned(theta=", to_text(theta), ')'), model_of(3));
  const Tensor a = rule_of(power, 300, Phase::train).bias;
  const Tensor b = rule_of(alibi, 300, Phase::train).bias;
  BOOST_TEST(all_close(a, b, Tolerance(0, 1e-14)));
  // d/dtheta = r1 d/dr1
  const Tensor seed = random_tensor(a.shape(), 5);
  backward(a, seed);
  backward(b, seed);
  BOOST_TEST(all_close(power.parameters()[0].value.grad() * slopes,
                       alibi.parameters()[0].value.grad(), Tolerance(1e-12)));
}

BOOST_AUTO_TEST_CASE(nothing_moves_at_distance_zero) {
  const Composition c("kerple_power", model_of(2));
  const Tensor bias = rule_of(c, 1, Phase::train).bias;
  BOOST_TEST(bias.to_vector() == (std::vector<double>{0, 0}), boost::test_tools::per_element());
  backward(bias, Tensor::full(bias.shape(), 1, DType::f64));
  for (const Parameter& parameter : c.parameters())
    for (const double g : parameter.value.grad().to_vector()) BOOST_TEST(g == 0, parameter.name);
}

BOOST_AUTO_TEST_CASE(a_power_above_two_is_refused) {
  BOOST_TEST(error_of_expression("kerple_power(r2=2.5)", model_of(2)) ==
             "[posenc] kerple_power(r2): expected a number >= 0.01 and <= 2 or a list of them, one "
             "per head, got 2.5 at column 17\n"
             "  kerple_power(r2=2.5)\n"
             "                  ^");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
