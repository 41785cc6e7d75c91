#include <boost/test/unit_test.hpp>

#include "tests/support/all_close.h"
#include "tests/support/encodings.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_linear_abs)
namespace {

std::vector<double> table_of(std::string_view expression, int64_t n_query, int64_t n_key) {
  const Composition c(expression, {.d_model = 3, .train_len = 8, .dtype = DType::f64});
  return c.plan(n_query, n_key, Phase::eval).embedding.to_vector();
}

BOOST_AUTO_TEST_CASE(one_coordinate_has_the_position_over_a_constant) {
  BOOST_TEST(table_of("linear_abs(scale=4)", 3, 3) ==
             std::vector<double>({0, 0, 0, 0.25, 0, 0, 0.5, 0, 0}));
  BOOST_TEST(table_of("linear_abs", 2, 17) == std::vector<double>({15 / 8.0, 0, 0, 2, 0, 0}));
}

BOOST_AUTO_TEST_CASE(moved_positions_move_it) {
  BOOST_TEST(table_of("linear_abs(scale=4) + interpolation(scale=2)", 2, 3) ==
             std::vector<double>({0.125, 0, 0, 0.25, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_scale_of_no_tokens_is_refused) {
  BOOST_TEST(error_of_expression("linear_abs(scale=0)", model_of(2)).find("scale") !=
             std::string::npos);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
