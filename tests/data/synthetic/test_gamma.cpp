#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>

#include "data/synthetic/gamma.h"

namespace farfield::data {
BOOST_AUTO_TEST_SUITE(test_gamma)
namespace {

// Mean and variance of Gamma(alpha, 1) are alpha; mean and variance of its logarithm are digamma
// and trigamma.
BOOST_AUTO_TEST_CASE(variates_have_the_moments_of_their_distribution) {
  const struct {
    double alpha, digamma, trigamma;
  } cases[] = {{0.3, -3.50252422, 12.24537137},
               {1.0, -0.57721566, 1.64493407},
               {4.5, 1.38887092, 0.24872468}};
  constexpr int kDraws = 40'000;
  for (const auto& c : cases) {
    Draws draws(1, 2);
    double sum = 0, squares = 0, logs = 0, log_squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double log_x = log_gamma_variate(c.alpha, draws), x = std::exp(log_x);
      sum += x;
      squares += x * x;
      logs += log_x;
      log_squares += log_x * log_x;
    }
    const double mean = sum / kDraws, log_mean = logs / kDraws;
    // five standard errors; the fourth moment of the variate is 3 alpha^2 + 6 alpha
    BOOST_TEST(std::abs(mean - c.alpha) < 5 * std::sqrt(c.alpha / kDraws));
    BOOST_TEST(std::abs(squares / kDraws - mean * mean - c.alpha) <
               5 * std::sqrt((2 * c.alpha * c.alpha + 6 * c.alpha) / kDraws));
    BOOST_TEST(std::abs(log_mean - c.digamma) < 5 * std::sqrt(c.trigamma / kDraws));
    BOOST_TEST(log_squares / kDraws - log_mean * log_mean == c.trigamma,
               boost::test_tools::tolerance(0.06));
  }
}

// Of a share: mean 1 / n, and the sum of squares has the mean (alpha + 1) / (n alpha + 1).
BOOST_AUTO_TEST_CASE(shares_have_the_moments_of_dirichlet) {
  constexpr int kDraws = 4000, kSymbols = 64;
  constexpr double kAlpha = 0.3;
  Draws draws(3, 4);
  std::vector<double> means(kSymbols);
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<double> theta = dirichlet(kSymbols, kAlpha, draws);
    BOOST_TEST(std::accumulate(theta.begin(), theta.end(), 0.0) == 1,
               boost::test_tools::tolerance(1e-12));
    for (size_t s = 0; s < theta.size(); ++s) {
      means[s] += theta[s] / kDraws;
      squares += theta[s] * theta[s] / kDraws;
    }
  }
  BOOST_TEST(squares == (kAlpha + 1) / (kSymbols * kAlpha + 1), boost::test_tools::tolerance(0.03));
  const double deviation =
      std::sqrt(1.0 / kSymbols * (1 - 1.0 / kSymbols) / (kSymbols * kAlpha + 1) / kDraws);
  for (const double mean : means) BOOST_TEST(std::abs(mean - 1.0 / kSymbols) < 5 * deviation);
}

BOOST_AUTO_TEST_CASE(a_small_concentration_leaves_one_symbol_and_no_number_that_is_not_finite) {
  Draws draws(5, 6);
  for (int i = 0; i < 100; ++i) {
    const std::vector<double> theta = dirichlet(8, 1e-6, draws);
    BOOST_TEST(*std::max_element(theta.begin(), theta.end()) > 0.999);
    BOOST_TEST(std::accumulate(theta.begin(), theta.end(), 0.0) == 1,
               boost::test_tools::tolerance(1e-12));
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::data
