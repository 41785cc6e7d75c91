#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <tuple>

#include "engine/cpu/attention_exp.h"
#include "tests/support/largest_error.h"

namespace farfield::attention_cpu {
BOOST_AUTO_TEST_SUITE(test_attention_exp)  // ctest: arm64
namespace {

using Types = std::tuple<float, double>;

template <class A>
A exp_of(A x) {
  return exp_lanes<A>(splat(x))[0];
}

// The largest error over [low, high] in units in the last place of the exact value.
template <class A>
double worst_ulps(double low, double high, int n) {
  double worst = 0;
  for (int i = 0; i <= n; ++i) {
    const A x = static_cast<A>(low + (high - low) * i / n);
    const long double want = std::exp(static_cast<long double>(x));
    const A rounded = static_cast<A>(want);
    const long double ulp = std::nextafter(rounded, std::numeric_limits<A>::infinity()) - rounded;
    const long double e = std::abs(static_cast<long double>(exp_of(x)) - want) / ulp;
    worst = test::larger_error(worst, static_cast<double>(e));
  }
  return worst;
}

BOOST_AUTO_TEST_CASE(the_error_is_a_few_units_in_the_last_place) {
  using F = ExpConstants<float>;
  using D = ExpConstants<double>;
  BOOST_TEST(
      worst_ulps<float>(static_cast<double>(F::kMin), static_cast<double>(F::kMax), 1'000'000) < 6);
  BOOST_TEST(worst_ulps<float>(-16, 16, 1'000'000) < 3);
  BOOST_TEST(worst_ulps<double>(D::kMin, D::kMax, 300'000) < 2);
  BOOST_TEST(worst_ulps<double>(-1, 1, 300'000) < 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(far_below_zero_it_is_zero_and_nan_stays, A, Types) {
  const A infinity = std::numeric_limits<A>::infinity();
  BOOST_TEST(exp_of<A>(0) == 1);
  BOOST_TEST(exp_of<A>(-infinity) == 0);
  BOOST_TEST(exp_of<A>(-std::numeric_limits<A>::max()) == 0);
  BOOST_TEST(exp_of<A>(ExpConstants<A>::kMin * A(1.001)) == 0);
  BOOST_TEST(exp_of<A>(ExpConstants<A>::kMin) > 0);
  BOOST_TEST(std::isnan(exp_of<A>(std::numeric_limits<A>::quiet_NaN())));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_transposition_swaps_rows_and_lanes, A, Types) {
  constexpr int64_t n = kLanes<A>;
  Vec<A> rows[n];
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) rows[i][j] = static_cast<A>(100 * i + j);
  transpose<A>(rows);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const A got = rows[i][j];  // clang binds no reference to a lane
      BOOST_TEST(got == static_cast<A>(100 * j + i));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(reductions_over_lanes, A, Types) {
  Vec<A> x{};
  A sum = 0;
  for (int64_t i = 0; i < kLanes<A>; ++i) sum += x[i] = static_cast<A>((5 * i) % 7) - 3;
  BOOST_TEST(sum_of<A>(x) == sum);
  x[kLanes<A> / 2] = 50;
  BOOST_TEST(max_of<A>(x) == 50);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::attention_cpu
