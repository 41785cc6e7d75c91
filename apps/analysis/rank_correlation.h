#pragma once

#include <span>

namespace farfield::analysis {

/// Spearman's rank correlation of pairs (x, y), -1 to 1: the correlation of their ranks, equal
/// values sharing the mean of their ranks. Infinite values have the first or last ranks. NaN for
/// fewer than two pairs, or where all x or all y are equal.
///
/// Throws    ConfigError bad_argument for unequal counts or NaN
/// Source    Spearman 1904, "The proof and measurement of association between two things"
double rank_correlation(std::span<const double> x, std::span<const double> y);

/// How far the 95 % interval around a rank correlation r of n pairs reaches below r, by Fisher's
/// transformation with the variance 1.06 / (n - 3). NaN for n < 4.
///
/// Source    Fieller, Hartley and Pearson 1957, "Tests for rank correlation coefficients"
double rank_correlation_uncertainty(double r, size_t n);

}  // namespace farfield::analysis
