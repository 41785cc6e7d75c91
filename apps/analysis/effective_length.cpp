#include "apps/analysis/effective_length.h"

#include <cmath>
#include <string_view>

#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

constexpr std::string_view kWhere = "eval:effective-length";

}  // namespace

EffectiveLength effective_length(const std::function<double(int64_t)>& kernel, int64_t largest) {
  require<ConfigError>(largest >= 0, kWhere,
                       "bad_argument: expected distances from 0 on, got up to ", largest);
  EffectiveLength result;
  double first = 0, before = INFINITY;
  for (int64_t d = 0; d <= largest; ++d) {
    const double k = kernel(d);
    require<Error>(k < INFINITY && (d > 0 || k > -INFINITY), kWhere,
                   "nonfinite_kernel: expected a bias, got ", k, " at distance ", d);
    if (d == 0) first = k;
    if (!result.length && k < kEffectiveThreshold) result.length = d;
    if (!result.relative && k - first < kEffectiveThreshold) result.relative = d;
    if (!(k < before) && k > -INFINITY) result.is_monotone = false;
    before = k;
  }
  return result;
}

EffectiveLength effective_length(std::span<const double> bias) {
  require<ConfigError>(!bias.empty(), kWhere, "bad_argument: expected a table, got an empty one");
  return effective_length([&](int64_t d) { return bias[static_cast<size_t>(d)]; },
                          static_cast<int64_t>(bias.size()) - 1);
}

Reach crossing_near(double root, const std::function<double(double)>& kernel) {
  if (!(root <= static_cast<double>(kLargestDistance))) return {};
  auto d = static_cast<int64_t>(root) + 1;
  while (d > 0 && kernel(static_cast<double>(d - 1)) < kEffectiveThreshold) --d;
  while (d <= kLargestDistance && !(kernel(static_cast<double>(d)) < kEffectiveThreshold)) ++d;
  return d <= kLargestDistance ? Reach(d) : Reach();
}

std::vector<int64_t> head_count_curve(std::span<const Reach> lengths, int64_t largest) {
  require<ConfigError>(largest >= 0, kWhere,
                       "bad_argument: expected distances from 0 on, got up to ", largest);
  std::vector<int64_t> curve(static_cast<size_t>(largest) + 1);
  for (const Reach& length : lengths) {
    if (!length || *length > largest) continue;
    require<ConfigError>(*length >= 0, kWhere, "bad_argument: expected lengths from 0 on, got ",
                         *length);
    ++curve[static_cast<size_t>(*length)];
  }
  for (size_t x = 1; x < curve.size(); ++x) curve[x] += curve[x - 1];
  return curve;
}

}  // namespace farfield::analysis
