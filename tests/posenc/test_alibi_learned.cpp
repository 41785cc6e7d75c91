#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_alibi_learned)  // ctest: on_cuda
namespace {

const GoldenTable& golden() {
  static const GoldenTable table{.key = "alibi_learned", .parameters = {"theta"}};
  return table;
}

BOOST_AUTO_TEST_CASE(tables_equal_the_golden_ones) { check_golden_tables(golden(), "learn=false"); }

BOOST_AUTO_TEST_CASE(derivatives_equal_the_golden_ones) { check_golden_derivatives(golden()); }

BOOST_AUTO_TEST_CASE(gradients_agree_with_central_differences) {
  BOOST_TEST(parameter_gradients_agree(Composition("alibi_learned", model_of(3)), 7));
}

BOOST_AUTO_TEST_CASE(it_starts_as_alibi_with_the_interpolated_slopes) {
  for (const int64_t n_head : {1, 8, 12})
    BOOST_TEST(all_close(rule_of(Composition("alibi_learned", model_of(n_head)), 500).bias,
                         rule_of(Composition("alibi", model_of(n_head)), 500).bias,
                         Tolerance(0, 1e-14)));
}

BOOST_AUTO_TEST_CASE(one_theta_per_head_is_trained_and_shared_by_all_layers) {
  const auto parameters = Composition("alibi_learned", model_of(5)).parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 1u);
  BOOST_TEST(parameters[0].name == "alibi_learned.theta");
  BOOST_TEST((parameters[0].value.shape() == Shape{5}));
  BOOST_TEST(Composition("alibi_learned(share=layer)", model_of(5)).parameters().size() == 3u);
}

BOOST_AUTO_TEST_CASE(learned_and_fixed_slopes_compose_and_each_has_its_gain) {
  const Composition both("alibi_learned(theta=0, bias_scale=0.5) + alibi(0.25)", model_of(2));
  BOOST_TEST(at_distances(rule_of(both, 3).bias, {2}) == (std::vector<double>{-1.5, -1.5}),
             boost::test_tools::per_element());
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
