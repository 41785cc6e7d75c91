#include "apps/analysis/spread.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

// With divisor n - 1. The mean goes first: E[x^2] - E[x]^2 would cancel.
double variance_of(std::span<const double> values) {
  if (values.size() < 2) return std::nan("");
  const double mean = mean_of(values);
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  return squares / static_cast<double>(values.size() - 1);
}

}  // namespace

double mean_of(std::span<const double> values) {
  if (values.empty()) return std::nan("");
  double sum = 0;
  for (const double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

double median_of(std::span<const double> values) {
  if (values.empty()) return std::nan("");
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) return *middle;
  return (*std::max_element(sorted.begin(), middle) + *middle) / 2;
}

double deviation_of(std::span<const double> values) { return std::sqrt(variance_of(values)); }

double standard_error_of(std::span<const double> values) {
  return std::sqrt(variance_of(values) / static_cast<double>(values.size()));
}

double share_error(double share, int64_t n) {
  return std::sqrt(share * (1 - share) / static_cast<double>(n));
}

Spread spread_of(std::span<const double> values) {
  require<ConfigError>(!values.empty(), "spread",
                       "bad_argument: expected the values of one or more seeds, got none");
  Spread spread;
  spread.n = static_cast<int64_t>(values.size());
  spread.n_nonfinite =
      std::count_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); });
  spread.mean = mean_of(values);
  spread.deviation = spread.n_nonfinite > 0 ? std::nan("") : deviation_of(values);
  return spread;
}

Spread spread_of_seeds(std::span<const double> perplexities) {
  Spread spread = spread_of(perplexities);
  if (spread.n_nonfinite > 0) spread.mean = INFINITY;
  return spread;
}

}  // namespace farfield::analysis
