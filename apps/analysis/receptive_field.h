#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// How far back a model looks: by the gradient of its prediction (empirical), and by what its mask
// lets through (theoretical). Positions and inputs count from 1, as in the paper: input T is the
// last one before the predicted token.
// Chi, Fan, Rudnicky and Ramadge 2022, "Dissecting Transformer Length Extrapolation via the Lens of
// Receptive Field Analysis", arXiv:2212.10356, sections 1 and 5.

namespace farfield::analysis {

/// The smallest k such that the k most recent inputs hold more than tau of the gradient:
/// min { k | s_{T-k+1} + ... + s_T > tau }, in tokens. c [T] as cumulative_gradient() returns it.
/// The paper prints min { m | c_m > tau }, which is 1 for every model; its text counts recent
/// inputs, as here.
///
/// Throws    ConfigError bad_argument for no inputs or a tau outside (0, 1)
int64_t empirical_receptive_field(std::span<const double> c, double tau = 0.99);

/// Share of the gradient on the last n inputs, c_{T-n+1}; 1 when there are no more than n.
/// ConfigError bad_argument for no inputs or n < 1.
double recent_share(std::span<const double> c, int64_t n);

/// field / grid rounded up, times grid: the paper quotes multiples of 256 (its train_len / 2).
/// ConfigError bad_argument for a field or grid below 1.
int64_t round_up_to_grid(int64_t field, int64_t grid);

/// The field over several segments.
struct EmpiricalField {
  std::vector<double> s = {};       ///< [T] mean share of each input
  std::vector<double> c = {};       ///< [T] share of each input and everything after it
  int64_t field = 0;                ///< tokens: empirical_receptive_field(c)
  std::vector<double> fields = {};  ///< [M] tokens: the fields of single segments
  double median_field = 0;          ///< tokens: the median of these
  double recent = 0;                ///< share of the last train_len inputs
  int64_t n_segments = 0;
};

/// From the shares of each segment, [M][T], each from normalized_gradient(): averages them, then
/// cumulates. Throws what the functions above throw.
EmpiricalField empirical_field(std::span<const std::vector<double>> s_of_segment, int64_t train_len,
                               double tau = 0.99);

/// A spike of the shares at a position, such as absolute encodings have at train_len.
struct GradientJump {
  int64_t peak = 0;    ///< input with the largest share, the last train_len / 8 left out
  double height = 0;   ///< largest share within 2 of the position / median around it
  bool found = false;  ///< the peak lies within train_len / 8 of it, and the height is 3 or more
};

/// Looks for a jump of c, that is a spike of s [T], at `position`. The median is over the inputs
/// within train_len / 2 of it that exist; a median of 0 under a positive share gives an infinite
/// height.
///
/// Throws    ConfigError bad_argument unless 1 <= position <= T, train_len >= 1 and an input is
///           left after leaving out the last train_len / 8
GradientJump find_jump(std::span<const double> s, int64_t position, int64_t train_len);

/// The inputs that can reach the prediction at all.
struct TheoreticalField {
  int64_t paper = 0;     ///< tokens: window n_layer, a loose bound
  int64_t exact = 0;     ///< tokens: (window - 1) n_layer + 1, at most the inputs there are
  bool covered = false;  ///< paper <= train_len: every distance was seen in training
};

/// Of a model with n_layer layers, each seeing `window` tokens, itself included; without a window
/// both counts are n_inputs.
///
/// Throws    ConfigError bad_argument for a window, n_layer, n_inputs or train_len below 1, or a
///           window n_layer beyond 64 bits
TheoreticalField theoretical_field(std::optional<int64_t> window, int64_t n_layer, int64_t n_inputs,
                                   int64_t train_len);

/// The same where each layer has a window of its own, or none: paper is their sum and exact the sum
/// of window - 1, plus 1; with a layer that has none both are n_inputs.
TheoreticalField theoretical_field(std::span<const std::optional<int64_t>> window_of_layer,
                                   int64_t n_inputs, int64_t train_len);

}  // namespace farfield::analysis
