#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

// How far a head attends by its positional bias k(d) alone: the smallest distance at which it
// weakens a key by more than exp(-2).
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921, appendix A.5 and figure 6.

namespace farfield::analysis {

/// A bias below it, strictly, is beyond the effective length.
inline constexpr double kEffectiveThreshold = -2;
/// Distances from 0 to here are looked at; no head attends farther than the paper's figure.
inline constexpr int64_t kLargestDistance = 20480;

/// In tokens; nothing when not reached up to the largest distance.
using Reach = std::optional<int64_t>;

struct EffectiveLength {
  Reach length = {};        ///< the first d with k(d) < -2
  Reach relative = {};      ///< the first d with k(d) - k(0) < -2: for t5, where k(0) is not 0
  bool is_monotone = true;  ///< k falls at every step; a hidden stretch (-inf) counts as falling
};

/// Of one head's bias, in logits: k(d) is entry d of the table, or what the function gives for d
/// from 0 to `largest`, in float64. Any kernel: learned, oscillating, windowed.
///
/// Throws    ConfigError bad_argument for an empty table or largest < 0; Error nonfinite_kernel,
///           with the distance, for NaN or +inf, or for k(0) = -inf
EffectiveLength effective_length(std::span<const double> bias);
EffectiveLength effective_length(const std::function<double(int64_t)>& kernel,
                                 int64_t largest = kLargestDistance);

/// floor(root) + 1 of a kernel that falls, with k(root) = -2 by its formula; checked on k itself,
/// so that rounding of the root does no harm. Nothing beyond kLargestDistance.
Reach crossing_near(double root, const std::function<double(double)>& kernel);

/// y(x) = how many heads have an effective length <= x, for x = 0 .. largest: [largest + 1]. The
/// slower it climbs to the number of heads, the farther the model attends.
///
/// Throws    ConfigError bad_argument for a negative length or largest
std::vector<int64_t> head_count_curve(std::span<const Reach> lengths,
                                      int64_t largest = kLargestDistance);

}  // namespace farfield::analysis
