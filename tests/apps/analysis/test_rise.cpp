#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <vector>

#include "apps/analysis/rise.h"

using namespace farfield::analysis;

BOOST_AUTO_TEST_SUITE(test_rise)

namespace {

double rise_of(const std::map<double, double>& perplexity) {
  std::vector<double> lengths;
  for (const auto& [length, value] : perplexity) lengths.push_back(length);
  return first_rise(lengths, [&](double length) { return perplexity.at(length); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_rise_is_measured_from_the_least_before) {
  BOOST_TEST(rise_of({{1, 10}, {2, 8}, {4, 8.7}, {8, 8.9}}) == 8);  // 8.9 > 1.1 * 8
  BOOST_TEST(rise_of({{1, 10}, {2, 10.9}, {4, 11.1}}) == 4);  // steps of less than 10 % add up
}

BOOST_AUTO_TEST_CASE(a_model_that_never_rises_has_none) {
  BOOST_TEST(rise_of({{1, 10}, {2, 9}, {4, 9.5}}) == INFINITY);
}

BOOST_AUTO_TEST_CASE(an_infinite_perplexity_is_a_rise_and_a_missing_one_decides_nothing) {
  BOOST_TEST(rise_of({{1, 10}, {2, INFINITY}}) == 2);
  BOOST_TEST(std::isnan(rise_of({{1, 10}, {2, NAN}, {4, 20}})));
  BOOST_TEST(rise_of({{1, 10}, {2, 20}, {4, NAN}}) == 2);
}

BOOST_AUTO_TEST_SUITE_END()
