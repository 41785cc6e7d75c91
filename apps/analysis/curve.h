#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/analysis/line_fit.h"

// Perplexity by position in the sequence. Positions t count from 1: entry t - 1 is the prediction
// after t inputs. Everything is averaged as nll and exponentiated last.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, section 5.5, appendix A.6,
// figures 5 and 7.

namespace farfield::analysis {

/// The mean over sequences at each position, [L] each.
struct PositionCurve {
  std::vector<double> mean_nll = {};   ///< nats per token
  std::vector<double> nll_error = {};  ///< standard error; NaN where n < 2
  std::vector<int64_t> n = {};         ///< sequences that reach this position
};

/// From the nll of each sequence, [M][up to L] in nats; some may end early.
///
/// Throws    ConfigError bad_argument for no sequences, or none with a position; Error
///           nonfinite_logits, naming sequence and position
PositionCurve position_curve(std::span<const std::vector<double>> nll);

/// The mean over all predictions, each position weighted by its n: the nll of the same sequences
/// under the non-overlapping protocol.
double mean_nll_of(const PositionCurve& curve);

/// Each entry the mean over those within k of it that exist, the window being cut at the ends.
/// ConfigError bad_argument for k < 0.
std::vector<double> smoothed(std::span<const double> mean_nll, int64_t k = 32);

/// How far a curve is smoothed for a picture with a logarithmic axis: each position is averaged
/// with those at most this factor away, so that the beginning, where perplexity falls steeply,
/// stays.
inline constexpr double kDrawnWithin = 1.15;
/// Positions to draw such a curve at: 1 to n, at most 16 to the octave, n among them.
std::vector<int64_t> drawn_positions(int64_t n);
/// At each of these positions the mean over those within a factor of kDrawnWithin that exist.
std::vector<double> log_smoothed(std::span<const double> mean_nll, std::span<const int64_t> at);

/// perplexity_of() each entry.
std::vector<double> perplexities_of(std::span<const double> mean_nll);

/// Positions, an even number, that perplexity "at" a position is a mean over.
inline constexpr int64_t kPositionsAt = 16;
/// The first of n positions around q: 505 of 16 around 512, the last of which is 520.
inline int64_t first_position_at(int64_t q, int64_t n) { return q - n / 2 + 1; }

/// Perplexity "at" position q: exp of the mean over n positions around it, since a single position
/// is too noisy. ConfigError bad_argument if some of these positions do not exist.
double perplexity_at(std::span<const double> mean_nll, int64_t q, int64_t n = kPositionsAt);

/// Perplexities between which the true one lies at each position, [L] each; NaN where n < 2.
struct Band {
  std::vector<double> low = {};
  std::vector<double> high = {};
};

/// exp(mean_nll -+ t nll_error), t of Student's distribution with n - 1 degrees of freedom.
/// ConfigError bad_argument for a level outside (0, 1).
Band confidence_band(const PositionCurve& curve, double level = 0.95);

/// The line of mean nll against ln t over the last half of the positions: whether the model still
/// gains from more context there.
struct LateTrend {
  LineFit fit = {};         ///< slope in nats per unit of ln t
  Interval slope = {};      ///< 95 % interval of the slope
  bool is_falling = false;  ///< the interval lies below 0
};

/// Over t = L - floor(L / 2) + 1 .. L. Of positions every, 2 every, ... where not all were
/// measured: over the last half of them. ConfigError bad_argument for fewer than 4 positions.
LateTrend late_trend(std::span<const double> mean_nll, int64_t every = 1);

}  // namespace farfield::analysis
