#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_kerple_log)  // ctest: on_cuda
namespace {

const GoldenTable& golden() {
  static const GoldenTable table{.key = "kerple_log", .parameters = {"r1", "r2"}};
  return table;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) { check_golden_tables(golden(), "learn=false"); }

BOOST_AUTO_TEST_CASE(derivatives_equal_the_golden_ones) { check_golden_derivatives(golden()); }

BOOST_AUTO_TEST_CASE(float32_tables_are_float64_tables_of_the_same_parameters_rounded_once) {
  const char* const expression = "kerple_log(r1=[0.5,1.25], r2=[0.375,0.75])";
  const Tensor narrow = rule_of(Composition(expression, model_of(2, DType::f32)), 8192).bias;
  const Tensor wide = rule_of(Composition(expression, model_of(2)), 8192).bias;
  BOOST_TEST((narrow.dtype() == DType::f32));
  BOOST_TEST(same_bits(narrow, Tensor::from(wide.to_vector(), wide.shape(), DType::f32)));
}

BOOST_AUTO_TEST_CASE(all_layers_share_one_table_unless_told_otherwise) {
  const Composition shared("kerple_log", model_of(4));
  const auto plan = shared.plan(5, 5, Phase::train);
  BOOST_TEST(plan.layers[0].rule.bias.raw_data() == plan.layers[2].rule.bias.raw_data());
  BOOST_TEST(shared.parameters().size() == 2u);
}

BOOST_AUTO_TEST_CASE(with_share_layer_each_layer_has_its_own_parameters) {
  const Composition c("kerple_log(share=layer)@0..1", model_of(4));
  const std::vector<Parameter> parameters = c.parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 4u);
  BOOST_TEST(parameters[0].name == "kerple_log.layer0.r1");
  BOOST_TEST(parameters[3].name == "kerple_log.layer1.r2");
  BOOST_TEST((parameters[0].value.to_vector() != parameters[2].value.to_vector()));
  const auto plan = c.plan(5, 5, Phase::train);
  BOOST_TEST(!all_close(plan.layers[0].rule.bias, plan.layers[1].rule.bias, 1e-6));
  BOOST_TEST(!plan.layers[2].rule.bias.defined());
  BOOST_TEST(c.canonical() == "kerple_log(share=layer)@0..1");
}

BOOST_AUTO_TEST_CASE(initial_values_are_uniform_between_the_published_bounds) {
  const auto parameters = Composition("kerple_log", model_of(4000)).parameters();
  BOOST_TEST(parameters[0].name == "kerple_log.r1");
  BOOST_TEST(parameters[1].name == "kerple_log.r2");
  check_uniform_start(parameters[0], 0, 2, 0.01);
  check_uniform_start(parameters[1], 0, 1, 0.01);
}

BOOST_AUTO_TEST_CASE(values_below_the_bound_are_refused) {
  BOOST_TEST(error_of_expression("kerple_log(r2=0.001)", model_of(2)) ==
             "[posenc] kerple_log(r2): expected a number >= 0.01 or a list of them, one per head, "
             "got 0.001 at column 15\n"
             "  kerple_log(r2=0.001)\n"
             "                ^");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
