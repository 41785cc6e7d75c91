#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "apps/analysis/definiteness.h"
#include "engine/base/error.h"
#include "tests/support/messages.h"

namespace farfield::analysis {
BOOST_AUTO_TEST_SUITE(test_definiteness)
namespace {

using boost::test_tools::tolerance;
using Kernel = std::function<double(double)>;

std::vector<double> integers(int n) {
  std::vector<double> points;
  for (int i = 0; i < n; ++i) points.push_back(i);
  return points;
}

Kernel power(double p) {
  return [p](double d) { return -std::pow(d, p); };
}
Kernel logarithm(double p) {
  return [p](double d) { return -std::log1p(std::pow(d, p)); };
}

// Whether c + k is positive definite on the points: Cholesky's pivots are all above `least`.
bool is_definite(const Kernel& kernel, const std::vector<double>& points, double c, double least) {
  const size_t n = points.size();
  std::vector<std::vector<double>> l(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      double sum = c + kernel(std::abs(points[i] - points[j]));
      for (size_t m = 0; m < j; ++m) sum -= l[i][m] * l[j][m];
      if (i == j && !(sum > least)) return false;
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  return true;
}

struct Row {
  std::string name;
  Kernel kernel;
  double smallest, shift, searched;
};

std::vector<Row> table() {
  return {{"-d^0.5", power(0.5), 0.760, 4.7417, 8},
          {"-d", power(1), 0.500, 31.5, 32},
          {"-d^1.5", power(1.5), 0.238, 327.15, 512},
          {"-d^1.9", power(1.9), 0.0439, 6795.6, 8192},
          {"-ln(1+d^0.5)", logarithm(0.5), 0.577, 1.6366, 2},
          {"-ln(1+d)", logarithm(1), 0.452, 2.9116, 4},
          {"-ln(1+d^2)", logarithm(2), 0.173, 5.6834, 8}};
}

// The eigenvalues are known to three digits, the shifts to five.
BOOST_AUTO_TEST_CASE(kernels_of_the_papers_on_64_integers) {
  for (const Row& row : table()) {
    BOOST_TEST_CONTEXT(row.name) {
      const Definiteness got = definiteness(row.kernel, integers(64));
      BOOST_TEST((got.verdict == Verdict::cpd));
      BOOST_TEST(got.smallest_eigenvalue == row.smallest, tolerance(3e-3));
      BOOST_TEST(got.smallest_shift == row.shift, tolerance(2e-5));
      BOOST_TEST(got.searched_shift == row.searched);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_smallest_shift_is_where_the_matrix_becomes_definite) {
  for (const Row& row : table()) {
    BOOST_TEST_CONTEXT(row.name) {
      const double shift = definiteness(row.kernel, integers(24)).smallest_shift;
      BOOST_TEST(is_definite(row.kernel, integers(24), shift * 1.001, 0));
      BOOST_TEST(!is_definite(row.kernel, integers(24), shift * 0.999, 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_shift_grows_with_the_set_of_points) {
  for (const int n : {2, 3, 16, 65})
    BOOST_TEST(definiteness(power(1), integers(n)).smallest_shift == (n - 1) / 2.0,
               tolerance(1e-10));
}

BOOST_AUTO_TEST_CASE(the_square_of_the_distance_is_on_the_boundary) {
  const Definiteness got = definiteness(power(2), integers(64));
  BOOST_TEST((got.verdict == Verdict::boundary));
  BOOST_TEST(std::abs(got.smallest_eigenvalue) < got.tolerance);
  BOOST_TEST(got.tolerance == 1e-9 * 64 * 63 * 63, tolerance(1e-12));
  BOOST_TEST(std::isnan(got.smallest_shift));
  BOOST_TEST(std::isnan(got.searched_shift));
}

BOOST_AUTO_TEST_CASE(higher_powers_are_not_definite) {
  for (const double p : {2.1, 3.0}) {
    const Definiteness got = definiteness(power(p), integers(64));
    BOOST_TEST((got.verdict == Verdict::not_cpd));
    BOOST_TEST(got.smallest_eigenvalue < 0);
    BOOST_TEST(std::isnan(got.smallest_shift));
  }
}

BOOST_AUTO_TEST_CASE(a_definite_kernel_needs_no_shift) {
  const Definiteness got = definiteness([](double d) { return std::exp(-d); }, integers(20));
  BOOST_TEST((got.verdict == Verdict::cpd));
  BOOST_TEST(got.smallest_shift == 0);
  BOOST_TEST(got.searched_shift == 0);
}

BOOST_AUTO_TEST_CASE(two_points_by_hand) {
  // K = [[0, -3], [-3, 0]]: (1, -1) / sqrt(2) has 3, the ones have -3, so c = 3 / 2 makes that 0.
  const Definiteness got = definiteness(power(1), std::vector<double>{2, 5});
  BOOST_TEST(got.smallest_eigenvalue == 3, tolerance(1e-14));
  BOOST_TEST(got.smallest_shift == 1.5, tolerance(1e-14));
  BOOST_TEST(got.searched_shift == 2);
}

BOOST_AUTO_TEST_CASE(points_need_no_order_and_no_grid) {
  const std::vector<double> sorted{-1, 0.5, 2, 7.25}, mixed{2, 7.25, -1, 0.5};
  BOOST_TEST(definiteness(logarithm(1), mixed).smallest_shift ==
                 definiteness(logarithm(1), sorted).smallest_shift,
             tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(softmax_does_not_see_a_shift) {
  std::vector<float> bias, shifted;
  for (int d = 0; d < 64; ++d) {
    bias.push_back(-std::log1p(static_cast<float>(d)));
    shifted.push_back(bias.back() + 31.5F);
  }
  const auto softmax = [](std::vector<float> row) {
    float top = row[0], sum = 0;
    for (const float x : row) top = std::max(top, x);
    for (float& x : row) sum += x = std::exp(x - top);
    for (float& x : row) x /= sum;
    return row;
  };
  const std::vector<float> a = softmax(bias), b = softmax(shifted);
  for (size_t d = 0; d < a.size(); ++d) BOOST_TEST(std::abs(a[d] - b[d]) < 1e-6F);
}

BOOST_AUTO_TEST_CASE(too_few_points_and_kernels_without_a_value_are_refused) {
  BOOST_CHECK_EXCEPTION(definiteness(power(1), std::vector<double>{1}), ConfigError,
                        says("[definiteness] bad_argument: expected at least 2 points, got 1"));
  BOOST_CHECK_EXCEPTION(definiteness([](double d) { return std::log(d); }, integers(3)), Error,
                        says("[definiteness] nonfinite_kernel: ", "-inf at distance 0"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::analysis
