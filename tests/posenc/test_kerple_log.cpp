#define BOOST_TEST_MODULE kerple_log
#include <boost/test/unit_test.hpp>

#include "engine/autograd.h"
#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones_in_both_precisions) {
  for (const int64_t n_head : {12, 8}) {
    const auto file = golden(concat("tables_h", n_head, ".json"));
    const auto& entry = file["encodings"]["kerple_log"];
    const std::string expression = concat("kerple_log(r1=", list_text(entry["params"]["r1"]),
                                          ", r2=", list_text(entry["params"]["r2"]), ')');
    // Parameters in float32 have other values: their table is compared in float64 only.
    const Tensor bias = rule_of(Composition(expression, model_of(n_head)), 8192).bias;
    BOOST_TEST(all_close(at_distances(bias, golden_numbers(file["distances"])),
                         golden_numbers(entry["b"]), table_tolerance(DType::f64)));
  }
}

BOOST_AUTO_TEST_CASE(float32_tables_are_float64_tables_of_the_same_parameters_rounded_once) {
  const char* const expression = "kerple_log(r1=[0.5,1.25], r2=[0.375,0.75])";
  const Tensor narrow = rule_of(Composition(expression, model_of(2, DType::f32)), 8192).bias;
  const Tensor wide = rule_of(Composition(expression, model_of(2)), 8192).bias;
  BOOST_TEST((narrow.dtype() == DType::f32));
  BOOST_TEST(same_bits(narrow, Tensor::from(wide.to_vector(), wide.shape(), DType::f32)));
}

BOOST_AUTO_TEST_CASE(derivatives_by_both_parameters_equal_the_golden_ones) {
  for (const int64_t n_head : {12, 8}) {
    const auto file = golden(concat("tables_h", n_head, ".json"));
    const auto& entry = file["encodings"]["kerple_log"];
    const Composition c(concat("kerple_log(r1=", list_text(entry["params"]["r1"]),
                               ", r2=", list_text(entry["params"]["r2"]), ')'),
                        model_of(n_head));
    const std::vector<double> distances = golden_numbers(file["grad_distances"]);
    for (size_t column = 0; column < distances.size(); ++column) {
      const Tensor bias = rule_of(c, 8192, Phase::train).bias;
      std::vector<double> seed(static_cast<size_t>(bias.numel()));
      for (int64_t h = 0; h < n_head; ++h)
        seed[static_cast<size_t>(h * 8192) + static_cast<size_t>(distances[column])] = 1;
      for (const Parameter& parameter : c.parameters()) parameter.value.set_grad({});
      backward(bias, Tensor::from(seed, bias.shape(), DType::f64));
      for (const Parameter& parameter : c.parameters()) {
        std::vector<double> want;
        for (const auto& row : entry["db"][parameter.name.substr(11)])
          want.push_back(row[column].get<double>());
        BOOST_TEST(all_close(parameter.value.grad().to_vector(), want, table_tolerance(DType::f64)),
                   parameter.name << " at distance " << distances[column]);
      }
    }
  }
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
  const auto parameters = Composition("kerple_log", model_of(2000)).parameters();
  BOOST_TEST(parameters[0].name == "kerple_log.r1");
  BOOST_TEST(parameters[1].name == "kerple_log.r2");
  for (const auto& [parameter, high] : {std::pair{parameters[0], 2.0}, {parameters[1], 1.0}}) {
    const std::vector<double> values = parameter.value.to_vector();
    double sum = 0;
    for (const double x : values) {
      BOOST_TEST((x >= 0.01 && x < high));
      sum += x;
    }
    BOOST_TEST(std::abs(sum / 2000 - high / 2) < 0.03 * high);
    BOOST_TEST(!parameter.decay);
  }
}

BOOST_AUTO_TEST_CASE(values_below_the_bound_are_refused) {
  BOOST_TEST(error_of_expression("kerple_log(r2=0.001)", model_of(2)) ==
             "[posenc] kerple_log(r2): expected a number >= 0.01 or a list of them, one per head, "
             "got 0.001 at column 15\n"
             "  kerple_log(r2=0.001)\n"
             "                ^");
}

}  // namespace
}  // namespace farfield::posenc
