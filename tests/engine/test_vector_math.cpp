#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "engine/vector_math.h"
#include "tests/support/largest_error.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_vector_math)  // ctest: arm64
namespace {

// Largest error of f against g over evenly spaced floats, relative to |g| when asked.
template <class F, class G>
double worst(F f, G g, double begin, double end, bool relative) {
  constexpr int kPoints = 2'000'000;
  double result = 0;
  for (int i = 0; i <= kPoints; ++i) {
    const auto x = static_cast<float>(begin + (end - begin) * i / kPoints);
    const double want = g(static_cast<double>(x));
    const double error = std::abs(static_cast<double>(f(x)) - want);
    result = test::larger_error(result, relative ? error / std::abs(want) : error);
  }
  return result;
}

BOOST_AUTO_TEST_CASE(exp_has_the_stated_relative_error) {
  const auto f = [](float x) { return fast_exp(x); };
  const auto g = [](double x) { return std::exp(x); };
  BOOST_TEST(worst(f, g, -86.5, 88.7, true) < 1.5e-7);
  BOOST_TEST(worst(f, g, -1, 1, true) < 1.5e-7);
}

BOOST_AUTO_TEST_CASE(exp_keeps_what_is_not_finite) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  BOOST_TEST(fast_exp(-kInf) == 0);
  BOOST_TEST(fast_exp(-87.0f) == 0);
  BOOST_TEST(fast_exp(kInf) == kInf);
  BOOST_TEST(fast_exp(89.0f) == kInf);
  BOOST_TEST(std::isnan(fast_exp(std::numeric_limits<float>::quiet_NaN())));
  BOOST_TEST(fast_exp(0.0f) == 1);
}

BOOST_AUTO_TEST_CASE(gelu_and_its_derivative_have_the_stated_errors) {
  const auto phi = [](double u) { return 0.5 * std::erfc(-u * std::sqrt(0.5)); };
  const auto density = [](double u) { return std::exp(-0.5 * u * u) / std::sqrt(2 * M_PI); };
  BOOST_TEST(worst([](float u) { return fast_gelu(u); }, [&](double u) { return u * phi(u); }, -9,
                   5, false) < 1e-6);
  BOOST_TEST(worst([](float u) { return fast_gelu_grad(u); },
                   [&](double u) { return phi(u) + u * density(u); }, -9, 9, false) < 1e-6);
  BOOST_TEST(fast_gelu(-100.0f) == 0);
  BOOST_TEST(fast_gelu(100.0f) == 100);
  BOOST_TEST(std::abs(fast_gelu_grad(0.7) - (phi(0.7) + 0.7 * density(0.7))) < 1e-15);
}

// What a GPU computes, whose e^x and 1 / x are off by up to 2^-22 and 2^-23.
BOOST_AUTO_TEST_CASE(gelu_by_a_gpus_instructions_has_the_stated_errors) {
  const auto phi = [](double u) { return 0.5 * std::erfc(-u * std::sqrt(0.5)); };
  const auto density = [](double u) { return std::exp(-0.5 * u * u) / std::sqrt(2 * M_PI); };
  for (const double off : {-1.0, 0.0, 1.0}) {
    const auto normal = [off](float u) {
      const auto exact = static_cast<double>(u * u * -0.72134752f);
      const auto e = static_cast<float>(std::exp2(exact) * (1 + off * 0x1p-22));
      const auto t = static_cast<float>(1 / (std::abs(u) * 0.2316419f + 1) * (1 + off * 0x1p-23));
      return normal_at(u, e, t);
    };
    if (off == 0)
      BOOST_TEST(worst([&](float u) { return normal(u).distribution; }, phi, -9, 9, false) < 3e-7);
    BOOST_TEST(worst([&](float u) { return u * normal(u).distribution; },
                     [&](double u) { return u * phi(u); }, -9, 5, false) < 1e-6);
    BOOST_TEST(worst([&](float u) { return normal(u).distribution + u * normal(u).density; },
                     [&](double u) { return phi(u) + u * density(u); }, -9, 9, false) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(tanh_has_the_stated_relative_error) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto f = [](float x) { return fast_tanh(x); };
  const auto g = [](double x) { return std::tanh(x); };
  BOOST_TEST(worst(f, g, 1e-6, 12, true) < 3e-7);
  BOOST_TEST(worst(f, g, -1e-3, -1e-9, true) < 3e-7);
  BOOST_TEST(fast_tanh(-kInf) == -1);
  BOOST_TEST(fast_tanh(kInf) == 1);
  BOOST_TEST(fast_tanh(0.0f) == 0);
  BOOST_TEST(std::isnan(fast_tanh(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
