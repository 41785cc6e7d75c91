#include "apps/analysis/line_fit.h"

#include "apps/analysis/spread.h"
#include "apps/analysis/student.h"
#include "engine/base/error.h"

namespace farfield::analysis {

Interval LineFit::slope_interval(double level) const {
  if (n < 3) return {};
  const double half = slope_error * student_half_width(n - 2, level);
  return {.low = slope - half, .high = slope + half};
}

LineFit fit_line(std::span<const double> x, std::span<const double> y, std::string_view where) {
  require<ConfigError>(x.size() == y.size(), where, "bad_argument: expected one y for each x, got ",
                       y.size(), " for ", x.size());
  for (size_t i = 0; i < x.size(); ++i)
    require<Error>(std::isfinite(x[i]) && std::isfinite(y[i]), where,
                   "nonfinite_points: expected finite numbers, got (", x[i], ", ", y[i],
                   ") as point ", i);
  const double mean_x = mean_of(x), mean_y = mean_of(y);
  double xx = 0, xy = 0;
  bool differ = false;  // asked of x itself: rounding leaves an xx > 0 for equal ones
  for (size_t i = 0; i < x.size(); ++i) {
    differ = differ || x[i] != x[0];
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  require<ConfigError>(differ, where, "bad_argument: expected at least 2 different points, got ",
                       x.size(), " points at one place");
  LineFit fit;
  fit.n = static_cast<int64_t>(x.size());
  fit.slope = xy / xx;
  fit.intercept = mean_y - fit.slope * mean_x;
  double squares = 0;  // of residuals
  for (size_t i = 0; i < x.size(); ++i) {
    const double r = (y[i] - mean_y) - fit.slope * (x[i] - mean_x);
    squares += r * r;
  }
  fit.residual = std::sqrt(squares / static_cast<double>(fit.n));
  if (fit.n > 2) fit.slope_error = std::sqrt(squares / static_cast<double>(fit.n - 2) / xx);
  return fit;
}

}  // namespace farfield::analysis
