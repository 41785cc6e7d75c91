#include "data/synthetic/gamma.h"

#include <algorithm>
#include <cmath>

#include "data/synthetic/elementary.h"

namespace farfield::data {
namespace {

// 1 - u lies in (0, 1], where the logarithm is finite.
double log_uniform(Draws& draws) { return portable_log(1 - draws.uniform()); }

double normal(Draws& draws) {
  while (true) {
    const double x = 2 * draws.uniform() - 1, y = 2 * draws.uniform() - 1;
    const double square = x * x + y * y;
    if (square > 0 && square < 1) return x * std::sqrt(-2 * portable_log(square) / square);
  }
}

}  // namespace

double log_gamma_variate(double alpha, Draws& draws) {
  if (alpha < 1) {
    const double log_u = log_uniform(draws);
    return log_gamma_variate(alpha + 1, draws) + log_u / alpha;
  }
  const double d = alpha - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(draws), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root, log_v = portable_log(v);
    if (log_uniform(draws) < 0.5 * x * x + d * (1 - v + log_v)) return portable_log(d) + log_v;
  }
}

std::vector<double> dirichlet(int n, double alpha, Draws& draws) {
  std::vector<double> shares(static_cast<size_t>(n));
  for (double& share : shares) share = log_gamma_variate(alpha, draws);
  const double most = *std::max_element(shares.begin(), shares.end());
  double sum = 0;
  for (double& share : shares) {
    share = portable_exp(share - most);
    sum += share;
  }
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace farfield::data
