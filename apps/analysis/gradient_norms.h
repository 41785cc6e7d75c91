#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace farfield::analysis {

/// Euclidean length of each row of a gradient [T, width] -> [T]. Sums are in float64, of components
/// divided by the row's largest, so nothing underflows or overflows on the way.
///
/// Throws    ConfigError bad_argument unless gradient.size() is a positive multiple of width; Error
///           nonfinite_gradient, naming the input
/// Accuracy  relative 1e-14 for any row of normal numbers of its type
std::vector<double> gradient_norms(std::span<const float> gradient, int64_t width);
/// The same for gradients that were computed in wider arithmetic.
std::vector<double> gradient_norms(std::span<const double> gradient, int64_t width);

/// s_m = |g_m| / sum of all |g_n|: what share of the gradient falls on each input; sums to 1.
/// norms [T] -> [T].
///
/// Throws    ConfigError bad_argument for no inputs; Error nonfinite_gradient (a negative norm
/// too);
///           Error zero_gradient when all are zero: the shares are then undefined
/// Source    Chi, Fan, Rudnicky and Ramadge 2022, "Dissecting Transformer Length Extrapolation via
///           the Lens of Receptive Field Analysis", arXiv:2212.10356, section 5.1
std::vector<double> normalized_gradient(std::span<const double> norms);

/// c_m = s_m + ... + s_T: the share of input m and everything after it. s [T] -> [T], not
/// increasing, within [0, 1], c_1 = 1.
///
/// Throws    ConfigError bad_argument for no inputs, or when s does not sum to 1 within 1e-9
/// Source    as above
std::vector<double> cumulative_gradient(std::span<const double> s);

/// Element by element, the mean of the shares of several segments: [M][T] -> [T]. Shares are
/// averaged, never gradients, whose signs would cancel.
///
/// Throws    ConfigError bad_argument for no segments, or segments of different lengths
std::vector<double> mean_gradient(std::span<const std::vector<double>> s_of_segment);

}  // namespace farfield::analysis
