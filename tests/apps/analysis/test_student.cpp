#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>

#include "apps/analysis/student.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_student)
namespace {

using boost::test_tools::tolerance;

// Closed forms of P(|T| >= t), t >= 0, written without differences of nearly equal numbers.
double by_hand(double t, int64_t df) {
  if (df == 1) return 2 / std::numbers::pi * std::atan2(1.0, t);
  const double root = std::sqrt(static_cast<double>(df) + t * t);
  const double tail = static_cast<double>(df) / (root * (root + t));  // 1 - t / root
  if (df == 2) return tail;
  // df = 4: 1 - u (3 - u^2) / 2 with u = t / root, which is (1 - u)^2 (2 + u) / 2
  return tail * tail * (3 - tail) / 2;
}

BOOST_AUTO_TEST_CASE(it_agrees_with_the_closed_forms_also_far_out) {
  for (const int64_t df : {1, 2, 4})
    for (const double t : {0.0, 1e-3, 0.5, 1.0, 2.776445, 4.2426, 30.0, 1e4, 1e8}) {
      BOOST_TEST_CONTEXT("df " << df << ", t " << t) {
        BOOST_TEST(student_two_sided(t, df) == by_hand(t, df), tolerance(1e-12));
        BOOST_TEST(student_two_sided(-t, df) == student_two_sided(t, df));
      }
    }
}

BOOST_AUTO_TEST_CASE(infinite_t_has_probability_zero_and_nan_stays_nan) {
  BOOST_TEST(student_two_sided(INFINITY, 4) == 0);
  BOOST_TEST(student_two_sided(-INFINITY, 4) == 0);
  BOOST_TEST(std::isnan(student_two_sided(NAN, 4)));
}

BOOST_AUTO_TEST_CASE(half_widths_of_95_percent) {
  BOOST_TEST(student_half_width(4) == 2.776445105, tolerance(1e-9));  // any table of t
  BOOST_TEST(student_half_width(1) == 12.70620474, tolerance(1e-9));
  BOOST_TEST(student_half_width(1000000) == 1.959966, tolerance(1e-6));
  BOOST_TEST(student_half_width(4, 0.99) == 4.604094871, tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  BOOST_CHECK_EXCEPTION(student_two_sided(1, 0), ConfigError, says("[student] bad_argument: "));
  BOOST_CHECK_EXCEPTION(student_half_width(0), ConfigError, says("[student] bad_argument: "));
  for (const double level : {0.0, 1.0, static_cast<double>(NAN)})
    BOOST_CHECK_EXCEPTION(student_half_width(4, level), ConfigError, says("expected a level"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
