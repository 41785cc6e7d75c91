#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_gauss_bias3)  // ctest: on_cuda
namespace {

const GoldenTable& golden() {
  static const GoldenTable table{.key = "gauss_bias3", .parameters = {"r1", "r2", "r3"}};
  return table;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) { check_golden_tables(golden(), "learn=false"); }

BOOST_AUTO_TEST_CASE(derivatives_equal_the_golden_ones) { check_golden_derivatives(golden()); }

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  check_parameter_gradients("gauss_bias3");
}

BOOST_AUTO_TEST_CASE(initial_values_are_uniform) {
  const auto parameters = Composition("gauss_bias3", model_of(4000)).parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 3u);
  check_uniform_start(parameters[0], 0, 2, 0.01);
  check_uniform_start(parameters[1], 0, 1, 0.01);
  check_uniform_start(parameters[2], 0, 2, 0.01);
}

BOOST_AUTO_TEST_CASE(with_power_two_it_is_gauss_bias2) {
  const Composition three("gauss_bias3(r1=0.7, r2=[0.02,0.3], r3=2)", model_of(2));
  const Composition two("gauss_bias2(r1=0.7, r2=[0.02,0.3])", model_of(2));
  BOOST_TEST(all_close(rule_of(three, 50).bias, rule_of(two, 50).bias, Tolerance(0, 1e-12)));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
