#include "apps/analysis/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "apps/analysis/spread.h"
#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

// From 1; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + 1 + end) / 2;
  }
  return ranks;
}

}  // namespace

double rank_correlation(std::span<const double> x, std::span<const double> y) {
  require<ConfigError>(x.size() == y.size(), "analysis",
                       "bad_argument: expected as many x as y, got ", x.size(), " and ", y.size());
  for (const std::span<const double> values : {x, y})
    require<ConfigError>(
        std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }),
        "analysis", "bad_argument: expected numbers, got NaN");
  const std::vector<double> a = ranks(x), b = ranks(y);
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);  // 0 / 0 where one does not vary
}

double rank_correlation_uncertainty(double r, size_t n) {
  if (n < 4) return std::nan("");
  const double half = 1.959964 * std::sqrt(1.06 / (static_cast<double>(n) - 3));
  return r - std::tanh(std::atanh(r) - half);
}

}  // namespace farfield::analysis
