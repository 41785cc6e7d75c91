#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "apps/analysis/t_test.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_t_test)
namespace {

using boost::test_tools::tolerance;

// Of these differences, candidate - reference, around perplexities of different size.
TTest of_differences(const std::vector<double>& differences) {
  std::vector<double> reference, candidate;
  for (size_t i = 0; i < differences.size(); ++i) {
    reference.push_back(16.0 * static_cast<double>(i + 1));
    candidate.push_back(reference.back() + differences[i]);
  }
  return paired_t_test(reference, candidate);
}

BOOST_AUTO_TEST_CASE(one_to_five) {
  const TTest got = of_differences({1, 2, 3, 4, 5});
  BOOST_TEST(got.n == 5);
  BOOST_TEST(got.mean == 3);
  BOOST_TEST(got.deviation == 1.5811388, tolerance(1e-7));
  BOOST_TEST(got.t == 4.2426407, tolerance(1e-7));
  BOOST_TEST(got.p == 0.0132356, tolerance(1e-5));
  BOOST_TEST(got.is_significant());
  BOOST_TEST(!got.is_significant(0.01));
}

BOOST_AUTO_TEST_CASE(the_interval_leaves_out_zero_where_the_test_is_significant) {
  const TTest got = of_differences({1, 2, 3, 4, 5});
  BOOST_TEST(got.half_width() == 2.776445 * std::sqrt(2.5 / 5), tolerance(1e-6));
  BOOST_TEST(got.half_width(got.p) == got.mean, tolerance(1e-9));
  BOOST_TEST(of_differences({2, 2, 2}).half_width() == 0);
  BOOST_TEST(std::isnan(of_differences({1, 2, INFINITY}).half_width()));
}

BOOST_AUTO_TEST_CASE(differences_that_cancel) {
  const TTest got = of_differences({-1, 1, -1, 1, 0});
  BOOST_TEST(got.t == 0);
  BOOST_TEST(got.p == 1, tolerance(1e-15));
  BOOST_TEST(got.is_defined());
  BOOST_TEST(!got.is_significant());
}

BOOST_AUTO_TEST_CASE(exchanging_the_two_turns_the_sign) {
  const std::vector<double> a{20.1, 23.5, 19.7, 22.8}, b{20.9, 23.9, 20.8, 23.0};
  const TTest forth = paired_t_test(a, b), back = paired_t_test(b, a);
  BOOST_TEST(forth.t == -back.t);
  BOOST_TEST(forth.p == back.p);
  BOOST_TEST(forth.t > 0);
}

BOOST_AUTO_TEST_CASE(the_critical_value_of_five_pairs) {
  // (m, m, m, m + a, m - a): deviation a / sqrt(2), so t = m sqrt(10) / a. Unit a, m either side.
  const double m = 2.776445 / std::sqrt(10.0);
  const auto test = [](double mean) {
    return paired_t_test(std::vector<double>(5, 0.0),
                         std::vector<double>{mean, mean, mean, mean + 1, mean - 1});
  };
  BOOST_TEST(test(m * 1.00001).is_significant());
  BOOST_TEST(!test(m * 0.99999).is_significant());
}

BOOST_AUTO_TEST_CASE(pairing_finds_what_the_spread_hides) {
  // Seeds differ by several units, methods by half a unit each time: table 3 of Sandwich marks so.
  const std::vector<double> reference{19.0, 21.5, 23.4, 25.8, 28.1};
  const std::vector<double> candidate{18.5, 21.1, 22.8, 25.3, 27.7};
  const TTest got = paired_t_test(reference, candidate);
  BOOST_TEST(got.is_significant());
  BOOST_TEST((sandwich_mark(got) == Mark::star));
  BOOST_TEST((kerple_mark(got) == Mark::none));
}

BOOST_AUTO_TEST_CASE(equal_differences) {
  const TTest none = of_differences({0, 0, 0});
  BOOST_TEST(none.t == 0);
  BOOST_TEST(none.p == 1);
  const TTest up = of_differences({2, 2, 2});
  BOOST_TEST(up.t == INFINITY);
  BOOST_TEST(up.p == 0);
  BOOST_TEST((sandwich_mark(up) == Mark::dagger));
  const TTest down = of_differences({-2, -2, -2});
  BOOST_TEST(down.t == -INFINITY);
  BOOST_TEST(down.p == 0);
  BOOST_TEST((sandwich_mark(down) == Mark::star));
}

BOOST_AUTO_TEST_CASE(a_value_that_is_not_finite_makes_it_undefined_and_unmarked) {
  for (const double bad : {INFINITY, -INFINITY, NAN}) {
    const std::vector<double> good{1, 2, 3}, with_bad{4, bad, 6};
    for (const TTest& got : {paired_t_test(good, with_bad), paired_t_test(with_bad, good),
                             paired_t_test(with_bad, with_bad)}) {
      BOOST_TEST(!got.is_defined());
      BOOST_TEST(!got.is_significant());
      BOOST_TEST(std::isnan(got.t));
      BOOST_TEST(got.n == 3);
      BOOST_TEST((sandwich_mark(got) == Mark::none));
      BOOST_TEST((kerple_mark(got) == Mark::none));
    }
  }
}

BOOST_AUTO_TEST_CASE(marks_say_who_is_better) {
  const TTest worse = of_differences({1, 2, 3, 4, 5});  // the candidate's perplexity is higher
  BOOST_TEST((sandwich_mark(worse) == Mark::dagger));
  BOOST_TEST((kerple_mark(worse) == Mark::dagger));
  const TTest better = of_differences({-1, -2, -3, -4, -5});
  BOOST_TEST((sandwich_mark(better) == Mark::star));
  BOOST_TEST((kerple_mark(better) == Mark::none));
  BOOST_TEST((sandwich_mark(worse, 0.01) == Mark::none));
}

BOOST_AUTO_TEST_CASE(logarithms_are_not_swayed_by_one_huge_value) {
  const std::vector<double> reference{20, 21, 22, 23, 24};
  const std::vector<double> candidate{40, 44, 43, 50, 90000};
  BOOST_TEST(!paired_t_test(reference, candidate).is_significant());
  // ln of the ratios 2, 2.1, 1.95, 2.17 and 3750
  const TTest logs = log_ratio_t_test(reference, candidate);
  double mean = 0;
  for (size_t i = 0; i < 5; ++i) mean += std::log(candidate[i] / reference[i]) / 5;
  BOOST_TEST(logs.mean == mean, tolerance(1e-13));
  BOOST_TEST(logs.t > paired_t_test(reference, candidate).t);
  // a constant ratio has differences of all sizes, its logarithm one
  const std::vector<double> a{1, 2, 4, 8}, b{2, 4, 8, 16};
  BOOST_TEST(log_ratio_t_test(a, b).mean == std::log(2.0), tolerance(1e-15));
  BOOST_TEST(log_ratio_t_test(a, b).p < 1e-12);
  BOOST_TEST(!log_ratio_t_test(std::vector<double>{1, 0}, std::vector<double>{1, 1}).is_defined());
}

BOOST_AUTO_TEST_CASE(one_pair_or_unequal_counts_are_refused) {
  const std::vector<double> one{1}, two{1, 2};
  BOOST_CHECK_EXCEPTION(paired_t_test(one, one), ConfigError,
                        says("[t-test] bad_argument: expected at least 2 pairs, got 1"));
  BOOST_CHECK_EXCEPTION(paired_t_test({}, {}), ConfigError, says("bad_argument: ", "got 0"));
  BOOST_CHECK_EXCEPTION(paired_t_test(one, two), ConfigError, says("bad_argument: ", "2 for 1"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
