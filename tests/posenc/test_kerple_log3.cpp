#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_kerple_log3)  // ctest: on_cuda
namespace {

const GoldenTable& golden() {
  static const GoldenTable table{.key = "kerple_log3", .parameters = {"r1", "r2", "r3"}};
  return table;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) { check_golden_tables(golden(), "learn=false"); }

BOOST_AUTO_TEST_CASE(derivatives_equal_the_golden_ones) { check_golden_derivatives(golden()); }

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  check_parameter_gradients("kerple_log3");
}

BOOST_AUTO_TEST_CASE(initial_values_are_uniform) {
  const auto parameters = Composition("kerple_log3", model_of(4000)).parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 3u);
  check_uniform_start(parameters[0], 0, 2, 0.01);
  check_uniform_start(parameters[1], 0, 1, 0.01);
  check_uniform_start(parameters[2], 0, 2, 0.01);
}

BOOST_AUTO_TEST_CASE(with_power_one_it_is_kerple_log) {
  const Composition three("kerple_log3(r1=[0.5,1.5], r2=[0.1,0.9], r3=1)", model_of(2));
  const Composition two("kerple_log(r1=[0.5,1.5], r2=[0.1,0.9])", model_of(2));
  BOOST_TEST(all_close(rule_of(three, 300).bias, rule_of(two, 300).bias, Tolerance(0, 1e-14)));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
