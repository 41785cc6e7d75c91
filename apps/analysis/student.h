#pragma once

#include <cstdint>

namespace farfield::analysis {

/// The probability that |T| >= |t| for Student's distribution with df degrees of freedom:
/// I_{df/(df + t^2)}(df/2, 1/2), the regularised incomplete beta function. 0 for an infinite t, NaN
/// for NaN.
///
/// Throws    ConfigError bad_argument for df < 1
/// Accuracy  relative 1e-12 against the closed forms of df = 1, 2 and 4
double student_two_sided(double t, int64_t df);

/// The t with P(|T| <= t) = level: half the width of a confidence interval, in standard errors.
///
/// Throws    ConfigError bad_argument for df < 1 or a level outside (0, 1)
double student_half_width(int64_t df, double level = 0.95);

}  // namespace farfield::analysis
