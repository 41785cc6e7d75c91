#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/sweep/evidence.h"

using namespace farfield::sweep;

BOOST_AUTO_TEST_SUITE(test_evidence)

BOOST_AUTO_TEST_CASE(nothing_to_judge_by_is_not_run) {
  BOOST_TEST((Evidence().verdict() == Verdict::not_run));
}

BOOST_AUTO_TEST_CASE(all_have_to_hold) {
  Evidence e;
  e.at_most("a", 1, 1);
  e.at_least("b", 2, 2);
  e.within("c", 1.01, 1, 0.0100001);
  e.below("d", 0.9, 1);
  e.above("e", 1.1, 1);
  BOOST_TEST((e.verdict() == Verdict::pass));
  e.below("f", 1, 1);
  BOOST_TEST((e.verdict() == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(a_number_that_is_missing_is_no_failure) {
  Evidence e;
  e.at_most("a", std::nan(""), 1);
  e.above("b", 2, std::nan(""));
  e.at_least("c", 2, std::nan(""));
  e.at_most("d", 2, std::nan(""));
  BOOST_TEST((e.verdict() == Verdict::not_run));
  BOOST_TEST(e.items()[1].is_missing);
}

BOOST_AUTO_TEST_CASE(one_that_fails_decides_beside_missing_ones) {
  Evidence e;
  e.missing("a");
  e.at_most("b", 2, 1);
  BOOST_TEST((e.verdict() == Verdict::fail));
}

BOOST_AUTO_TEST_CASE(a_model_that_diverged_is_a_number) {
  Evidence e;
  e.at_least("ratio", INFINITY, 1.3);
  BOOST_TEST((e.verdict() == Verdict::pass));
}

BOOST_AUTO_TEST_CASE(items_say_the_data_set_and_the_threshold) {
  Evidence e;
  e.set_prefix("latex, ");
  e.at_most("PPL 2 L / PPL L", 1.02, 1.01);
  BOOST_TEST(e.items().front().what == "latex, PPL 2 L / PPL L");
  BOOST_TEST(e.items().front().condition == "at most 1.01");
}

BOOST_AUTO_TEST_CASE(margins_say_how_near_a_number_is_to_its_threshold) {
  Evidence e;
  e.at_most("a", 0.9, 1);
  e.above("b", 1, 2);
  e.within("c", 1.01, 1, 0.03);
  e.at_least("d", INFINITY, INFINITY);
  BOOST_TEST(e.items()[0].margin == 0.1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(e.items()[1].margin == -0.5);
  BOOST_TEST(e.items()[2].margin == 0.02, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(e.items()[3].margin == 0);
}

BOOST_AUTO_TEST_SUITE_END()
