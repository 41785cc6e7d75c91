#include "apps/analysis/curve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "apps/analysis/perplexity.h"
#include "apps/analysis/spread.h"
#include "apps/analysis/student.h"
#include "engine/base/error.h"

namespace farfield::analysis {
namespace {

constexpr std::string_view kWhere = "eval:position-wise";

}  // namespace

PositionCurve position_curve(std::span<const std::vector<double>> nll) {
  size_t longest = 0;
  for (size_t j = 0; j < nll.size(); ++j) {
    longest = std::max(longest, nll[j].size());
    for (size_t t = 0; t < nll[j].size(); ++t)
      require<Error>(std::isfinite(nll[j][t]), kWhere,
                     "nonfinite_logits: expected finite scores, got ", nll[j][t], " in sequence ",
                     j, " at position ", t + 1);
  }
  require<ConfigError>(longest > 0, kWhere, "bad_argument: expected scored sequences, got ",
                       nll.size(), nll.empty() ? "" : " without a position");
  PositionCurve curve;
  std::vector<double> column;
  for (size_t t = 0; t < longest; ++t) {
    column.clear();
    for (const std::vector<double>& sequence : nll)
      if (t < sequence.size()) column.push_back(sequence[t]);
    curve.mean_nll.push_back(mean_of(column));
    curve.nll_error.push_back(standard_error_of(column));
    curve.n.push_back(static_cast<int64_t>(column.size()));
  }
  return curve;
}

double mean_nll_of(const PositionCurve& curve) {
  double sum = 0, n_scored = 0;
  for (size_t i = 0; i < curve.mean_nll.size(); ++i) {
    const auto n = static_cast<double>(curve.n[i]);
    sum += n * curve.mean_nll[i];
    n_scored += n;
  }
  return sum / n_scored;
}

std::vector<double> smoothed(std::span<const double> mean_nll, int64_t k) {
  require<ConfigError>(k >= 0, kWhere, "bad_argument: expected a smoothing of 0 or more, got ", k);
  const auto n = static_cast<int64_t>(mean_nll.size());
  std::vector<double> result;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t first = i > k ? i - k : 0, end = k < n - i ? i + k + 1 : n;
    // Each window is summed anew: a running sum would carry the rounding of a spike along.
    result.push_back(mean_of(mean_nll.subspan(static_cast<size_t>(first),
                                              static_cast<size_t>(std::min(end, n) - first))));
  }
  return result;
}

std::vector<int64_t> drawn_positions(int64_t n) {
  std::vector<int64_t> positions;
  for (int i = 0;; ++i) {
    const int64_t t = std::llround(std::exp2(i / 16.0));
    if (t >= n) break;
    if (positions.empty() || t > positions.back()) positions.push_back(t);
  }
  if (n > 0) positions.push_back(n);
  return positions;
}

std::vector<double> log_smoothed(std::span<const double> mean_nll, std::span<const int64_t> at) {
  std::vector<double> result;
  for (const int64_t t : at) {
    const auto place = static_cast<double>(t);
    const auto first = static_cast<size_t>(std::ceil(place / kDrawnWithin)),
               last = std::min(static_cast<size_t>(place * kDrawnWithin), mean_nll.size());
    result.push_back(mean_of(mean_nll.subspan(first - 1, last - first + 1)));
  }
  return result;
}

std::vector<double> perplexities_of(std::span<const double> mean_nll) {
  std::vector<double> result;
  for (const double nll : mean_nll) result.push_back(perplexity_of(nll));
  return result;
}

double perplexity_at(std::span<const double> mean_nll, int64_t q, int64_t n) {
  const auto size = static_cast<int64_t>(mean_nll.size());
  const int64_t first = first_position_at(q, n), last = first + n - 1;
  require<ConfigError>(first >= 1 && last <= size, kWhere, "bad_argument: expected positions ",
                       first, " to ", last, " for the perplexity at ", q, ", got 1 to ", size);
  return perplexity_of(
      mean_of(mean_nll.subspan(static_cast<size_t>(first - 1), static_cast<size_t>(n))));
}

Band confidence_band(const PositionCurve& curve, double level) {
  Band band;
  std::map<int64_t, double> half_width;  // by n: most positions share one
  for (size_t i = 0; i < curve.mean_nll.size(); ++i) {
    const int64_t n = curve.n[i];
    if (n >= 2 && !half_width.count(n)) half_width[n] = student_half_width(n - 1, level);
    const double half = n >= 2 ? half_width[n] * curve.nll_error[i] : std::nan("");
    band.low.push_back(perplexity_of(curve.mean_nll[i] - half));
    band.high.push_back(perplexity_of(curve.mean_nll[i] + half));
  }
  return band;
}

LateTrend late_trend(std::span<const double> mean_nll, int64_t every) {
  const size_t n = mean_nll.size(), half = n / 2;
  require<ConfigError>(n >= 4, kWhere,
                       "bad_argument: expected at least 4 positions for a trend, got ", n);
  std::vector<double> log_t;
  for (size_t t = n - half + 1; t <= n; ++t)
    log_t.push_back(std::log(static_cast<double>(t) * static_cast<double>(every)));
  LateTrend trend;
  trend.fit = fit_line(log_t, mean_nll.last(half), kWhere);
  trend.slope = trend.fit.slope_interval();
  trend.is_falling = trend.slope.high < 0;
  return trend;
}

}  // namespace farfield::analysis
