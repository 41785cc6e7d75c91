#include <boost/test/unit_test.hpp>
#include <cmath>

#include "apps/eval/protocols/kernel_fit.h"
#include "engine/base/error.h"
#include "tests/apps/eval/protocols/small_model.h"
#include "tests/support/messages.h"

BOOST_AUTO_TEST_SUITE(test_kernel_fit)

using namespace farfield;
using namespace farfield::eval;
using namespace farfield::test;

namespace {
LengthResult measure(const std::string& posenc, int64_t n_head, int64_t points = 8192) {
  const SmallModel small(heads_config(posenc, n_head));
  const KernelFitOptions own{points};
  check(own);
  return kernel_fit(small.subject(), own).lengths.at(0);
}
}  // namespace

BOOST_AUTO_TEST_CASE(sandwich_has_the_coefficients_of_its_eighth_head_times_8_over_h) {
  const LengthResult whole = measure("sandwich(bar_d=128)", 8);
  const LengthResult recent = measure("sandwich(bar_d=128)", 8, 50);
  for (int h = 1; h <= 8; ++h) {
    const double factor = 8.0 / h;
    const auto expect = [&](const LengthResult& cell, const char* name, double want) {
      BOOST_TEST(std::abs(value_of(cell, concat(name, " h", h)) / factor - want) < 1e-6);
    };
    expect(whole, "a", -0.832402);
    expect(whole, "b", -0.793819);
    expect(recent, "a", -1.024485);
    expect(recent, "b", -0.015073);
    BOOST_TEST(value_of(whole, concat("n h", h)) == 8192);
    BOOST_TEST(value_of(whole, concat("residual h", h)) > 0);
  }
}

BOOST_AUTO_TEST_CASE(a_logarithmic_kernel_is_its_own_fit) {
  const LengthResult cell = measure("kerple_log(r1=[0.5, 2], r2=[1, 1])", 2);
  BOOST_TEST(value_of(cell, "a h1") == -0.5, boost::test_tools::tolerance(1e-10));
  BOOST_TEST(value_of(cell, "a h2") == -2, boost::test_tools::tolerance(1e-10));
  BOOST_TEST(std::abs(value_of(cell, "b h2")) < 1e-9);
  BOOST_TEST(value_of(cell, "residual h2") < 1e-9);
}

BOOST_AUTO_TEST_CASE(hidden_distances_are_left_out) {
  const LengthResult cell = measure("kerple_log(r1=[0.5, 2], r2=[1, 1]) + window(20)", 2);
  BOOST_TEST(value_of(cell, "n h1") == 20);
  BOOST_TEST(value_of(cell, "a h1") == -0.5, boost::test_tools::tolerance(1e-10));
}

BOOST_AUTO_TEST_CASE(one_point_makes_no_line) {
  BOOST_CHECK_EXCEPTION(measure("alibi", 2, 1), ConfigError,
                        says("[eval:log-fit] bad_argument: expected fit-points from 2 to 20481"));
}

BOOST_AUTO_TEST_SUITE_END()
