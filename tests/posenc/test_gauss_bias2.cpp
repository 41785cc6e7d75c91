#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_gauss_bias2)  // ctest: on_cuda
namespace {

const GoldenTable& golden() {
  static const GoldenTable table{.key = "gauss_bias2", .parameters = {"r1", "r2"}};
  return table;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) { check_golden_tables(golden(), "learn=false"); }

BOOST_AUTO_TEST_CASE(derivatives_equal_the_golden_ones) { check_golden_derivatives(golden()); }

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  check_parameter_gradients("gauss_bias2");
}

BOOST_AUTO_TEST_CASE(initial_values_are_uniform) {
  const auto parameters = Composition("gauss_bias2", model_of(4000)).parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 2u);
  check_uniform_start(parameters[0], 0, 2, 0.01);
  check_uniform_start(parameters[1], 0, 1, 0.01);
}

BOOST_AUTO_TEST_CASE(it_lifts_near_keys_and_leaves_far_ones_alone) {
  const Tensor bias =
      rule_of(Composition("gauss_bias2(r1=[0.5,1.5], r2=0.1)", model_of(2)), 400).bias;
  BOOST_TEST(at_distances(bias, {0}) == (std::vector<double>{0.5, 1.5}),
             boost::test_tools::per_element());
  BOOST_TEST(at_distances(bias, {399}) == (std::vector<double>{0, 0}),
             boost::test_tools::per_element());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
