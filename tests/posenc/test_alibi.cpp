#include <boost/test/unit_test.hpp>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_alibi)  // ctest: on_cuda
namespace {

using farfield::test::golden;
using farfield::test::golden_numbers;

// The slopes that an expression gives: minus the bias at distance 1.
std::vector<double> slopes_of(std::string_view expression, int64_t n_head) {
  std::vector<double> slopes =
      at_distances(rule_of(Composition(expression, model_of(n_head)), 2).bias, {1});
  for (double& slope : slopes) slope = -slope;
  return slopes;
}

BOOST_AUTO_TEST_CASE(slopes_equal_the_golden_ones_for_every_number_of_heads) {
  const auto& file = golden("alibi_slopes.json");
  for (const auto& [heads, sets] : file.items())
    for (const char* set : {"interp", "geometric"})
      BOOST_TEST(all_close(slopes_of(concat("alibi(", set, ')'), std::stoll(heads)),
                           golden_numbers(sets[set]), Tolerance(0, 1e-15)));
}

BOOST_AUTO_TEST_CASE(the_interpolated_set_is_the_default) {
  BOOST_TEST(all_close(slopes_of("alibi", 12), slopes_of("alibi(interp)", 12), Tolerance(0)));
  BOOST_TEST(!all_close(slopes_of("alibi", 12), slopes_of("alibi(geometric)", 12), 1e-3));
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones_in_both_precisions) {
  for (const int64_t n_head : {12, 8}) {
    const auto& file = golden(concat("tables_h", n_head, ".json"));
    const std::vector<double> distances = golden_numbers(file["distances"]);
    for (const auto& [name, entry] : file["encodings"].items()) {
      if (name.rfind("alibi_", 0) != 0 || name == "alibi_learned") continue;
      const bool named = name == "alibi_interp" || name == "alibi_geometric";
      const std::string expression =
          named ? "alibi(" + name.substr(6) + ")"
                : "alibi(slopes=" + list_text(entry["params"]["slopes"]) + ")";
      for (const DType dtype : {DType::f32, DType::f64}) {
        Tensor bias = rule_of(Composition(expression, model_of(n_head, dtype)), 8192).bias;
        BOOST_TEST((bias.dtype() == dtype));
        if (entry.contains("b_head0")) bias = bias.view({1, 8192});
        BOOST_TEST(all_close(at_distances(bias, distances),
                             golden_numbers(entry.contains("b") ? entry["b"] : entry["b_head0"]),
                             table_tolerance(dtype)),
                   name << " for " << n_head << " heads in " << dtype);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(slopes_are_raised_to_the_floor) {
  BOOST_TEST(all_close(slopes_of("alibi(slopes=[0.5, 0.001], slope_floor=0.01)", 2),
                       std::vector<double>{0.5, 0.01}, Tolerance(0)));
}

BOOST_AUTO_TEST_CASE(one_slope_serves_all_heads) {
  BOOST_TEST(all_close(slopes_of("alibi(0.25)", 3), std::vector<double>(3, 0.25), Tolerance(0)));
}

BOOST_AUTO_TEST_CASE(bias_scale_multiplies_the_bias) {
  BOOST_TEST(all_close(slopes_of("alibi(slopes=[0.5, 0.25], bias_scale=0.5)", 2),
                       std::vector<double>{0.25, 0.125}, Tolerance(0)));
}

BOOST_AUTO_TEST_CASE(wrong_slopes_are_refused) {
  BOOST_TEST(
      error_of_expression("alibi(slopes=[0.5,0.25])", model_of(4)) ==
      "[posenc] alibi(slopes): expected interp, geometric or a number >= 0 or a list of them, "
      "one per head, got 2 of them; this model has 4 heads at column 14\n"
      "  alibi(slopes=[0.5,0.25])\n"
      "               ^");
  BOOST_TEST(error_of_expression("alibi(slopes=[0.5,-0.25])", model_of(2)).find(">= 0") !=
             std::string::npos);
  BOOST_TEST(error_of_expression("alibi(geometrc)", model_of(4))
                 .find("got geometrc; did you mean 'geometric'? at column 7") != std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
