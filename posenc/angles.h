#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace farfield::posenc {

/// base^(-2 i / dims), i = 0 .. dims/2 - 1, in radians per token.
std::vector<double> geometric_frequencies(int64_t dims, double base);

/// Angles position * inv_freq[i] of rotations and sinusoids, formed in float64.
class Angles {
 public:
  /// With emulate_bf16, frequencies, positions and their products are each rounded to bfloat16, as
  /// the runs published with Rotary and Sinusoidal baselines did by accident: positions beyond 256
  /// merge. Only for reproducing them.
  explicit Angles(std::vector<double> inv_freq, bool emulate_bf16 = false);
  /// Of geometric_frequencies(dims, base).
  Angles(int64_t dims, double base, bool emulate_bf16 = false);

  const std::vector<double>& inv_freq() const { return inv_freq_; }
  double operator()(double position, size_t i) const;

  struct Waves {
    std::vector<double> cos, sin;  ///< [positions][inv_freq], in a row
  };
  /// factor * cos and factor * sin of the angles at each position.
  Waves waves(std::span<const double> positions, double factor = 1) const;

 private:
  std::vector<double> inv_freq_;
  bool emulate_bf16_;
};

}  // namespace farfield::posenc
