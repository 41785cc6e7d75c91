#include <boost/test/unit_test.hpp>

#include "apps/eval/verdict.h"

BOOST_AUTO_TEST_SUITE(test_verdict)

using namespace farfield;
using namespace farfield::eval;

namespace {

LengthResult cell(std::vector<double> items) {
  LengthResult c;
  c.items = std::move(items);
  double sum = 0;
  for (const double nll : c.items) sum += nll;
  c.mean_nll = sum / static_cast<double>(c.items.size());
  return c;
}

Verdict::Kind kind(std::vector<double> a, std::vector<double> b) {
  return eval::compare(cell(std::move(a)), cell(std::move(b))).kind;
}

}  // namespace

BOOST_AUTO_TEST_CASE(verdicts_follow_the_numbers) {
  using Kind = Verdict::Kind;
  BOOST_CHECK(kind({1, 2, 3, 4}, {2, 3.1, 4, 4.9}) == Kind::explodes);
  BOOST_CHECK(kind({1, 2, 3, 4}, {1.2, 2.21, 3.2, 4.19}) == Kind::degrades);
  BOOST_CHECK(kind({1, 2, 3, 4}, {0.9, 1.91, 2.9, 3.89}) == Kind::improves);
  BOOST_CHECK(kind({1, 2, 3, 4}, {1.01, 2.0, 3.0, 4.01}) == Kind::flat);  // clear but tiny
  BOOST_CHECK(kind({1, 2, 3, 4}, {3, 1, 5, 3}) == Kind::flat);            // large but not clear
}

BOOST_AUTO_TEST_CASE(the_error_is_that_of_the_paired_difference) {
  // Items differ widely from each other, by the same amount between lengths.
  const Verdict v = eval::compare(cell({0, 10, 20}), cell({1, 11, 21}));
  BOOST_TEST(v.difference == 1);
  BOOST_TEST(v.error == 0);
}

BOOST_AUTO_TEST_CASE(cells_without_the_same_items_are_not_judged) {
  BOOST_CHECK(kind({1, 2, 3}, {1, 2}) == Verdict::Kind::unknown);
  BOOST_CHECK(eval::compare(cell({1, 2}), LengthResult()).kind == Verdict::Kind::unknown);
  BOOST_TEST(to_words(Verdict::Kind::unknown) == "cannot be judged");
}

BOOST_AUTO_TEST_SUITE_END()
