#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/support/golden_tables.h"
#include "tests/support/largest_error.h"

namespace farfield::posenc {
BOOST_AUTO_TEST_SUITE(test_alibi_random)  // ctest: on_cuda
namespace {

std::vector<double> slopes_of(const Composition& c) {
  std::vector<double> slopes = at_distances(rule_of(c, 2).bias, {1});
  for (double& slope : slopes) slope = -slope;
  return slopes;
}
std::vector<double> drawn(std::string_view expression, int64_t n_head, uint64_t seed) {
  Config config = model_of(n_head);
  config.seed = seed;
  return slopes_of(Composition(expression, config));
}

BOOST_AUTO_TEST_CASE(slopes_are_positive_below_one_and_descend) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<double> slopes = drawn("alibi_random", 12, seed);
    BOOST_TEST(std::is_sorted(slopes.rbegin(), slopes.rend()));
    BOOST_TEST((slopes.back() > 0 && slopes.front() < 1));
  }
}

BOOST_AUTO_TEST_CASE(over_many_seeds_they_are_exponential_cut_at_one) {
  for (const auto& [expression, rate] :
       {std::pair{"alibi_random", 8.0}, {"alibi_random(1)", 1.0}}) {
    std::vector<double> all;
    for (uint64_t seed = 0; seed < 2000; ++seed) {
      const std::vector<double> slopes = drawn(expression, 8, seed);
      all.insert(all.end(), slopes.begin(), slopes.end());
    }
    std::sort(all.begin(), all.end());
    const auto n = static_cast<double>(all.size());
    double sum = 0, worst = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      sum += all[i];
      const double want = -std::expm1(-rate * all[i]) / -std::expm1(-rate);  // P(slope < all[i])
      worst = test::larger_error(worst, std::abs(want - (static_cast<double>(i) + 0.5) / n));
    }
    // Kolmogorov and Smirnov: beyond 2 / sqrt(n) once in a thousand.
    BOOST_TEST(worst < 2 / std::sqrt(n), expression);
    const double mean = 1 / rate - 1 / std::expm1(rate);
    BOOST_TEST(std::abs(sum / n - mean) < 3 * mean / std::sqrt(n), expression);
  }
}

BOOST_AUTO_TEST_CASE(they_are_drawn_once_from_the_seed) {
  const Composition c("alibi_random", model_of(4));
  BOOST_TEST((slopes_of(c) == slopes_of(c)));
  BOOST_TEST((slopes_of(c) == drawn("window(4) + alibi_random", 4, model_of(4).seed)));
  BOOST_TEST((slopes_of(c) != drawn("alibi_random", 4, model_of(4).seed + 1)));
  const auto plan = c.plan(5, 5, Phase::train);
  BOOST_TEST(plan.layers[0].rule.bias.raw_data() == plan.layers[2].rule.bias.raw_data());
}

// What a checkpoint holds is what the table is made of; the optimizer never gets a gradient.
BOOST_AUTO_TEST_CASE(a_checkpoint_keeps_them_and_training_leaves_them) {
  const Composition c("alibi_random", model_of(3));
  const std::vector<Parameter> parameters = c.parameters();
  BOOST_TEST_REQUIRE(parameters.size() == 1u);
  BOOST_TEST(parameters[0].name == "alibi_random.slopes");
  BOOST_TEST(!parameters[0].value.requires_grad());
  BOOST_TEST(!parameters[0].decay);
  BOOST_TEST(!rule_of(c, 3, Phase::train).bias.needs_grad());
  store(c, 0, {0.5, 0.25, 0.125});
  BOOST_TEST(slopes_of(c) == (std::vector<double>{0.5, 0.25, 0.125}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_rate_that_would_draw_forever_is_refused) {
  BOOST_TEST(error_of_expression("alibi_random(rate=0.001)", model_of(2)) ==
             "[posenc] alibi_random(rate): expected a number >= 0.01, got 0.001 at column 19\n"
             "  alibi_random(rate=0.001)\n"
             "                    ^");
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::posenc
