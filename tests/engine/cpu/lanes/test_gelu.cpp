#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/cpu/gelu.h"
#include "tests/support/largest_error.h"

namespace farfield::lanes {
BOOST_AUTO_TEST_SUITE(test_gelu)  // ctest: arm64
namespace {

constexpr auto kWidth = static_cast<int>(kLanes<float>);

BOOST_AUTO_TEST_CASE(float32_has_the_errors_that_vector_math_states) {
  const GeluLanes<float> gelu;
  constexpr int kVectors = 100'000;
  double value = 0, slope = 0;
  for (int v = 0; v < kVectors; ++v) {
    Vec<float> u;
    for (int l = 0; l < kWidth; ++l)
      u[l] = static_cast<float>(-9 + 18.0 * (v + l * double{kVectors}) / (kVectors * kWidth));
    const Gelu<float> got = gelu(u);
    for (int l = 0; l < kWidth; ++l) {
      const auto x = static_cast<double>(u[l]);
      const double phi = 0.5 * std::erfc(-x * std::sqrt(0.5));
      const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI);
      const auto got_value = static_cast<double>(got.value[l]),
                 got_slope = static_cast<double>(got.slope[l]);
      value = test::larger_error(value, std::abs(got_value - x * phi));
      slope = test::larger_error(slope, std::abs(got_slope - (phi + x * density)));
    }
  }
  BOOST_TEST(value < 1e-6);
  BOOST_TEST(slope < 1e-6);
}

// Lane l has u + l.
template <class A>
Vec<A> upwards_from(A u) {
  Vec<A> x;
  for (int l = 0; l < static_cast<int>(kLanes<A>); ++l) x[l] = u + static_cast<A>(l);
  return x;
}

BOOST_AUTO_TEST_CASE(far_out_it_is_the_identity_or_zero) {
  const GeluLanes<float> gelu;
  for (const float u : {7.0F, 100.0F, 3e38F}) {
    const Vec<float> x = upwards_from(u);
    const Gelu<float> right = gelu(x), left = gelu(-x);
    for (int l = 0; l < kWidth; ++l) {
      const float want = x[l], value = right.value[l], slope = right.slope[l],
                  left_value = left.value[l], left_slope = left.slope[l];
      BOOST_TEST(value == want);
      BOOST_TEST(slope == 1);
      BOOST_TEST(std::abs(left_value) < 1e-9);
      BOOST_TEST(std::abs(left_slope) < 1e-9);
    }
  }
}

BOOST_AUTO_TEST_CASE(at_zero_it_is_zero_and_rises_by_half) {
  const GeluLanes<float> gelu;
  for (const float u : {0.0F, -0.0F}) {
    const Gelu<float> got = gelu(splat(u));
    const float value = got.value[0], slope = got.slope[0];
    BOOST_TEST(value == 0);
    BOOST_TEST(std::abs(slope - 0.5F) < 1e-6F);
  }
}

BOOST_AUTO_TEST_CASE(nan_stays_in_its_lane) {
  const GeluLanes<float> gelu;
  for (int at = 0; at < kWidth; ++at) {
    Vec<float> u = splat(1.5F);
    u[at] = std::numeric_limits<float>::quiet_NaN();
    const Gelu<float> got = gelu(u);
    for (int l = 0; l < kWidth; ++l) {
      BOOST_TEST(std::isnan(got.value[l]) == (l == at));
      BOOST_TEST(std::isnan(got.slope[l]) == (l == at));
    }
  }
}

BOOST_AUTO_TEST_CASE(float64_is_the_librarys_in_each_lane) {
  const Vec<double> u = upwards_from(-1.3);
  const Gelu<double> got = GeluLanes<double>()(u);
  for (int l = 0; l < static_cast<int>(kLanes<double>); ++l) {
    const double x = u[l], value = got.value[l], slope = got.slope[l];
    BOOST_TEST(value == fast_gelu(x));
    BOOST_TEST(slope == fast_gelu_grad(x));
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::lanes
