#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "data/synthetic/topic.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_topic)
namespace {

BOOST_AUTO_TEST_CASE(successors_are_of_the_seed_and_of_the_alphabet) {
  const Successors a(64, 1), again(64, 1), b(64, 2);
  std::set<int> seen;
  int n_same = 0;
  for (int symbol = 0; symbol < 64; ++symbol) {
    BOOST_TEST(a.of(symbol) == again.of(symbol), boost::test_tools::per_element());
    n_same += a.of(symbol) == b.of(symbol);
    for (const int next : a.of(symbol)) {
      BOOST_TEST(next >= 0);
      BOOST_TEST(next < 64);
      seen.insert(next);
    }
  }
  BOOST_TEST(n_same == 0);
  BOOST_TEST(seen.size() > 55u);  // of 256 draws
}

// next() against the mixture as the task says it, counted by pairs.
BOOST_AUTO_TEST_CASE(symbols_follow_with_the_probabilities_of_the_mixture) {
  for (const double local : {0.0, 0.2, 1.0}) {
    const TopicOptions options = {.alphabet = 6, .local = local, .alpha = 0.5, .seed = 3};
    const Successors successors(6, 3);
    Draws draws(3, 9);
    const Topic topic(options, successors, draws);
    constexpr int kDraws = 60'000;
    for (int before = 0; before < 6; ++before) {
      std::vector<double> share(6);
      for (int i = 0; i < kDraws; ++i)
        share[static_cast<size_t>(topic.next(before, draws))] += 1.0 / kDraws;
      std::vector<double> want(6);
      for (size_t k = 0; k < 4; ++k)
        want[static_cast<size_t>(successors.of(before)[k])] +=
            local * std::vector<double>{0.55, 0.25, 0.15, 0.05}[k];
      for (size_t s = 0; s < 6; ++s) {
        want[s] += (1 - local) * topic.theta()[s];
        BOOST_TEST(std::abs(topic.probability(before, static_cast<int>(s)) - want[s]) < 1e-12);
        BOOST_TEST(std::abs(share[s] - want[s]) <= 5 * std::sqrt(want[s] / kDraws));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_symbol_is_uniform) {
  const Successors successors(5, 1);
  Draws draws(1, 1);
  const Topic topic({.alphabet = 5, .local = 1, .alpha = 0.01, .seed = 1}, successors, draws);
  std::vector<int> n(5);
  for (int i = 0; i < 10'000; ++i) ++n[static_cast<size_t>(topic.first(draws))];
  for (const int count : n) BOOST_TEST(std::abs(count - 2000) < 200);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
