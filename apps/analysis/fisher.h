#pragma once

#include <cstdint>

namespace farfield::analysis {

/// The factor x >= 1 within which the ratio of the standard deviations of two samples of equal
/// spread lies with probability `level`, from 1/x to x: the square root of the quantile
/// (1 + level) / 2 of the F distribution with df degrees of freedom for each sample.
///
/// Throws    ConfigError bad_argument for df < 1 or a level outside (0, 1)
double deviation_ratio_factor(int64_t df, double level = 0.95);

}  // namespace farfield::analysis
