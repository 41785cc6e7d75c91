#include "apps/analysis/effective_length.h"

#include <cmath>
#include <string_view>

#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

constexpr std::string_view kWhere = "eval:effective-length";

void check_parameter(std::string_view name, double value, double most = INFINITY) {
  require<IoError>(value > 0 && value <= most && std::isfinite(value), kWhere,
                   "bad_parameter: expected a finite ", name, " above 0",
                   most < INFINITY ? concat(" and at most ", most) : std::string(), ", got ",
                   value);
}

// The first distance below the threshold of a kernel that falls, given where its formula says that
// the threshold is met: rounding may have put that on the other side of an integer.
template <class Kernel>
Reach around(double root, const Kernel& kernel) {
  if (!(root <= static_cast<double>(kLargestDistance))) return {};
  auto d = static_cast<int64_t>(root) + 1;
  while (d > 0 && kernel(static_cast<double>(d - 1)) < kEffectiveThreshold) --d;
  while (d <= kLargestDistance && !(kernel(static_cast<double>(d)) < kEffectiveThreshold)) ++d;
  return d <= kLargestDistance ? Reach(d) : Reach();
}

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

Reach alibi_length(double slope) {
  check_parameter("slope", slope);
  return around(2 / slope, [&](double d) { return -slope * d; });
}

Reach power_length(double r1, double r2) {
  check_parameter("r1", r1);
  check_parameter("r2", r2, 2);
  return around(std::pow(2 / r1, 1 / r2), [&](double d) { return -r1 * std::pow(d, r2); });
}

Reach log_length(double r1, double r2) {
  check_parameter("r1", r1);
  check_parameter("r2", r2);
  return around(std::expm1(2 / r1) / r2, [&](double d) { return -r1 * std::log1p(r2 * d); });
}

Reach log3_length(double r1, double r2, double r3) {
  check_parameter("r1", r1);
  check_parameter("r2", r2);
  check_parameter("r3", r3, 2);
  return around(std::pow(std::expm1(2 / r1) / r2, 1 / r3),
                [&](double d) { return -r1 * std::log1p(r2 * std::pow(d, r3)); });
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
