#include "layers/sampling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>

#include "engine/base/error.h"

namespace farfield {
namespace {

constexpr double kLeftOut = -std::numeric_limits<double>::infinity();

std::vector<double> copy_of(std::span<const double> scores) {
  return {scores.begin(), scores.end()};
}

double largest_of(std::span<const double> scores) {
  return *std::max_element(scores.begin(), scores.end());
}

}  // namespace

void check_sampling(double temperature, const SamplingFilters& filters) {
  constexpr std::string_view kWhere = "generate";
  require<ConfigError>(std::isfinite(temperature) && temperature >= 0, kWhere,
                       "expected a finite temperature of 0 (the most likely token) or more, got ",
                       temperature);
  const double penalty = filters.repetition_penalty;
  require<ConfigError>(std::isfinite(penalty) && penalty > 0, kWhere,
                       "expected a repetition penalty above 0 (1: none), got ", penalty);
  require<ConfigError>(filters.top_k >= 0, kWhere, "expected a top-k of 0 (all) or more, got ",
                       filters.top_k);
  require<ConfigError>(filters.top_p > 0 && filters.top_p <= 1, kWhere,
                       "expected a top-p above 0 and up to 1 (all), got ", filters.top_p);
  require<ConfigError>(filters.min_p >= 0 && filters.min_p <= 1, kWhere,
                       "expected a min-p from 0 (all) to 1, got ", filters.min_p);
}

std::vector<double> penalize_repetition(std::span<const double> scores,
                                        std::span<const int32_t> seen, double penalty) {
  std::vector<double> result = copy_of(scores);
  for (const int32_t id : seen) {
    const auto i = static_cast<size_t>(id);
    if (i < scores.size()) result[i] = scores[i] < 0 ? scores[i] * penalty : scores[i] / penalty;
  }
  return result;
}

std::vector<double> keep_top_k(std::span<const double> scores, int64_t k) {
  std::vector<double> result = copy_of(scores);
  if (k == 0 || k >= std::ssize(scores)) return result;
  std::vector<double> by_size = copy_of(scores);
  const auto last_kept = by_size.begin() + (k - 1);
  std::nth_element(by_size.begin(), last_kept, by_size.end(), std::greater<>());
  for (double& score : result)
    if (score < *last_kept) score = kLeftOut;
  return result;
}

std::vector<double> keep_top_p(std::span<const double> scores, double temperature, double p) {
  std::vector<double> result = copy_of(scores);
  if (p == 1) return result;
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return scores[a] != scores[b] ? scores[a] < scores[b] : a > b;
  });
  const double top = scores[order.back()];
  std::vector<double> up_to;  // sums of exp, the least likely first
  double sum = 0;
  for (const size_t i : order) up_to.push_back(sum += std::exp((scores[i] - top) / temperature));
  for (size_t i = 0; i + 1 < order.size() && up_to[i] <= (1 - p) * sum; ++i)
    result[order[i]] = kLeftOut;
  return result;
}

std::vector<double> keep_min_p(std::span<const double> scores, double temperature, double p) {
  std::vector<double> result = copy_of(scores);
  const double top = largest_of(scores);
  for (double& score : result)
    if (std::exp((score - top) / temperature) < p) score = kLeftOut;
  return result;
}

std::vector<double> filtered(std::span<const double> scores, std::span<const int32_t> seen,
                             double temperature, const SamplingFilters& filters) {
  std::vector<double> result = filters.repetition_penalty == 1
                                   ? copy_of(scores)
                                   : penalize_repetition(scores, seen, filters.repetition_penalty);
  if (temperature == 0) return result;
  if (filters.top_k > 0) result = keep_top_k(result, filters.top_k);
  if (filters.top_p < 1) result = keep_top_p(result, temperature, filters.top_p);
  if (filters.min_p > 0) result = keep_min_p(result, temperature, filters.min_p);
  return result;
}

int32_t choose_token(std::span<const double> scores, double temperature, double u) {
  const auto top = std::max_element(scores.begin(), scores.end());  // the first of equal ones
  if (temperature == 0) return static_cast<int32_t>(top - scores.begin());
  std::vector<double> up_to;  // sums of exp, of which the largest is 1
  double sum = 0;
  for (const double score : scores) up_to.push_back(sum += std::exp((score - *top) / temperature));
  // u is at most 1 - 2^-53, so the product is below the sum even when rounded.
  return static_cast<int32_t>(std::upper_bound(up_to.begin(), up_to.end(), u * sum) -
                              up_to.begin());
}

}  // namespace farfield
