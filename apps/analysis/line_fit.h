#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

namespace farfield::analysis {

struct Interval {
  double low = std::nan("");
  double high = std::nan("");
};

/// y = slope x + intercept by ordinary least squares.
struct LineFit {
  double slope = std::nan("");
  double intercept = std::nan("");
  double residual = std::nan("");     ///< root mean square of y - fit, divisor n
  double slope_error = std::nan("");  ///< standard error of the slope; NaN for two points
  int64_t n = 0;                      ///< points

  /// Where the slope lies with this confidence, by Student's t with n - 2 degrees of freedom; NaN
  /// for two points. ConfigError bad_argument for a level outside (0, 1).
  Interval slope_interval(double level = 0.95) const;
};

/// slope = cov(x, y) / var(x), x and y centred before they are multiplied. `where` heads messages.
///
/// Throws    ConfigError bad_argument for unequal counts, or fewer than two different x; Error
///           nonfinite_points
LineFit fit_line(std::span<const double> x, std::span<const double> y,
                 std::string_view where = "line-fit");

}  // namespace farfield::analysis
