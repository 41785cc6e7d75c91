#pragma once

#include <span>

#include "apps/analysis/line_fit.h"

namespace farfield::analysis {

/// y(d) = a ln(1 + d) + b: slope a, intercept b. distance [n] in tokens, from 0 on. The curve of
/// Sandwich's head h is 8 / h times the curve of h = 8, and so are a and b; softmax does not see b.
///
/// Throws    ConfigError bad_argument for a negative distance, and what fit_line() throws
/// Source    Chi et al. 2022, arXiv:2212.10356, section 6.2 and figure 9, whose caption means
///           ln(1 + |m - n|)
LineFit fit_log(std::span<const double> distance, std::span<const double> y);

}  // namespace farfield::analysis
