#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_sandwich_learned)  // ctest: on_cuda
namespace {

const GoldenTable& golden() {
  static const GoldenTable table{
      .key = "sandwich_learned_128", .encoding = "sandwich_learned", .parameters = {"theta"}};
  return table;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) { check_golden_tables(golden(), "learn=false"); }

BOOST_AUTO_TEST_CASE(derivatives_equal_the_golden_ones) { check_golden_derivatives(golden()); }

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  BOOST_TEST(parameter_gradients_agree(Composition("sandwich_learned(16)", model_of(3)), 7));
}

BOOST_AUTO_TEST_CASE(it_starts_as_sandwich) {
  for (const char* arguments : {"()", "(64)", "(bar_d=64, base=1000, first_index=1)"}) {
    const Composition learned(concat("sandwich_learned", arguments), model_of(3));
    const Composition fixed(concat("sandwich", arguments), model_of(3));
    BOOST_TEST(all_close(rule_of(learned, 300).bias, rule_of(fixed, 300).bias, Tolerance(0, 1e-14)),
               arguments);
  }
}

BOOST_AUTO_TEST_CASE(one_theta_per_head_is_trained) {
  const auto parameters = Composition("sandwich_learned", model_of(5)).parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 1u);
  BOOST_TEST(parameters[0].name == "sandwich_learned.theta");
  BOOST_TEST((parameters[0].value.shape() == Shape{5}));
}

// The curve is kept between calls: a change of length, and back, must not show the old one.
BOOST_AUTO_TEST_CASE(lengths_may_change_between_calls) {
  const Composition c("sandwich_learned(32)", model_of(2));
  const Tensor first = rule_of(c, 40).bias;
  BOOST_TEST(all_close(rule_of(c, 7).bias, slice(first, 1, 0, 7), Tolerance(0)));
  BOOST_TEST(same_bits(rule_of(c, 40).bias, first));
}

BOOST_AUTO_TEST_CASE(an_odd_width_is_refused) {
  BOOST_TEST(error_of_expression("sandwich_learned(7)", model_of(2))
                 .find("sandwich_learned(bar_d): expected an even number, got 7") !=
             std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
