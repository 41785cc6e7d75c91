#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace farfield::analysis {

/// Significance level of both papers, for two sides.
inline constexpr double kAlpha = 0.05;

struct TTest {
  double mean = std::nan("");       ///< of candidate - reference
  double deviation = std::nan("");  ///< of the same, divisor n - 1
  double t = std::nan("");          ///< mean / (deviation / sqrt(n)); df = n - 1
  double p = std::nan("");          ///< two-sided; NaN when undefined
  int64_t n = 0;                    ///< pairs

  /// False when a value was not finite.
  bool is_defined() const { return !std::isnan(p); }
  bool is_significant(double alpha = kAlpha) const { return p < alpha; }
  /// Half the width of the interval around `mean` that leaves out 0 exactly where the test is
  /// significant: of 95 % for the alpha of the papers. 0 for equal differences; NaN when undefined.
  double half_width(double alpha = kAlpha) const;
};

/// Paired two-sided t-test of candidate against reference, both [n]; a pair is one seed: both
/// methods share its initialisation, order of data and evaluated text. Perplexity against
/// perplexity as in the papers; log_ratio_t_test() where some are huge.
///
/// Equal differences: p = 1, t = 0 when they are all 0, otherwise p = 0 and t infinite. A value
/// that is not finite: undefined (mean, deviation, t and p are NaN). There is no
/// multiple-comparison correction: print how many tests were made.
///
/// Throws    ConfigError bad_argument for fewer than 2 pairs, or unequal counts
/// Source    Chi et al. 2022, arXiv:2212.10356, table 3; arXiv:2205.09921, tables 3 and 9
TTest paired_t_test(std::span<const double> reference, std::span<const double> candidate);

/// The same on logarithms: whether the mean nll differs. A perplexity that is not positive makes it
/// undefined.
TTest log_ratio_t_test(std::span<const double> reference, std::span<const double> candidate);

/// How a candidate's number differs from the reference's number, with the signs of the papers,
/// whose numbers are perplexities and whose subject is the reference.
enum class Mark {
  none,    ///< not significantly
  dagger,  ///< it is significantly higher: the reference is better
  star,    ///< it is significantly lower: the reference is worse
};

/// Marks of the Sandwich paper, reference sandwich.
Mark sandwich_mark(const TTest& test, double alpha = kAlpha);
/// Marks of the KERPLE paper, reference kerple_log: it marks only where the reference is better.
Mark kerple_mark(const TTest& test, double alpha = kAlpha);

}  // namespace farfield::analysis
