#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace farfield::analysis {

/// Arithmetic mean, in the order given; NaN for no values.
double mean_of(std::span<const double> values);
/// The middle value, or the mean of the two in the middle; NaN for no values.
double median_of(std::span<const double> values);
/// Standard deviation with divisor n - 1, in two passes; NaN for fewer than two values.
double deviation_of(std::span<const double> values);
/// Standard error of the mean, deviation / sqrt(n); NaN for fewer than two values.
double standard_error_of(std::span<const double> values);
/// Standard error of a share of n independent items: sqrt(share (1 - share) / n).
double share_error(double share, int64_t n);

/// A table cell for several trainings: "mean ± deviation".
struct Spread {
  double mean = std::nan("");       ///< not finite when one of the values is not
  double deviation = std::nan("");  ///< NaN for a single value, or with one that is not finite
  int64_t n = 0;
  int64_t n_nonfinite = 0;  ///< values that are not finite; kept, never dropped
  int64_t ddof = 1;         ///< the divisor of the variance is n - ddof
};

/// Of n numbers of any kind. The quantity defines what a non-finite number means (a length that is
/// not reached, a shift that does not exist): the mean follows IEEE arithmetic, infinite or NaN.
///
/// Throws    ConfigError bad_argument for no values
Spread spread_of(std::span<const double> values);

/// The spread of the perplexities of n seeds. A perplexity that is not finite means a diverged
/// seed, and makes the mean infinite. The papers do not state their divisor; this is the sample
/// form.
///
/// Throws    ConfigError bad_argument for no values
/// Source    Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, section 5.2: five
///           seeds a cell
Spread spread_of_seeds(std::span<const double> perplexities);

}  // namespace farfield::analysis
