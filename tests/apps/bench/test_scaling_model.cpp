#include <boost/test/unit_test.hpp>

#include "apps/bench/scaling_model.h"

BOOST_AUTO_TEST_SUITE(test_scaling_model)

using namespace farfield::bench;

namespace {

constexpr SharedStep kStep = {
    .compute_s = 1.2, .update_s = 0.08, .n_parameter = 1e6, .n_bucket = 4, .overlaps = false};
constexpr Link kSlow = {.latency_s = 1e-3, .bytes_per_s = 1e8}, kFast = {1e-4, 1e9};

}  // namespace

BOOST_AUTO_TEST_CASE(the_times_of_a_step_are_those_of_the_formula_by_hand) {
  const Cluster flat = {.inside = kSlow, .between = kSlow, .per_node = 1};
  const SharedTime tree = predict(kStep, 8, flat, Pattern::tree);
  const auto close = boost::test_tools::tolerance(1e-12);
  BOOST_TEST(tree.compute == 0.15, close);
  BOOST_TEST(tree.update == 0.01, close);
  BOOST_TEST(tree.reduce == 4 * 3 * 1e-3 + 7.0 / 8 * 4e6 / 1e8, close);
  BOOST_TEST(tree.exposed == tree.reduce, close);
  BOOST_TEST(tree.total() == 0.16 + 2 * tree.reduce, close);
  BOOST_TEST(predict(kStep, 8, flat, Pattern::ring).reduce == 4 * 7 * 1e-3 + 7.0 / 8 * 4e6 / 1e8,
             close);
  // Two nodes of four: among four, then a quarter of the bytes between two.
  const Cluster nodes = {.inside = kFast, .between = kSlow, .per_node = 4};
  BOOST_TEST(predict(kStep, 8, nodes, Pattern::tree).reduce ==
                 (4 * 2 * 1e-4 + 3.0 / 4 * 4e6 / 1e9) + (4 * 1e-3 + 1.0 / 2 * 1e6 / 1e8),
             close);
}

BOOST_AUTO_TEST_CASE(one_process_sends_nothing) {
  const Cluster flat = {.inside = kSlow, .between = kSlow, .per_node = 1};
  for (const Pattern pattern : {Pattern::tree, Pattern::ring})
    BOOST_TEST(predict(kStep, 1, flat, pattern).total() == 1.28,
               boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(backward_hides_all_but_a_bucket_or_what_is_left) {
  const auto close = boost::test_tools::tolerance(1e-12);
  SharedStep step = kStep;
  step.overlaps = true;
  const Cluster flat = {.inside = kSlow, .between = kSlow, .per_node = 1};
  const SharedTime long_one = predict(step, 8, flat, Pattern::tree);
  BOOST_TEST(long_one.exposed == long_one.reduce / 4, close);
  step.compute_s = 0.04;
  const SharedTime short_one = predict(step, 8, flat, Pattern::tree);
  BOOST_TEST(short_one.exposed == short_one.reduce - 2.0 / 3 * 0.005 * 3 / 4, close);
}

BOOST_AUTO_TEST_SUITE_END()
