#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farfield::posenc {

/// Angles position * inv_freq[i] of rotations and sinusoids, formed in float64.
class Angles {
 public:
  /// inv_freq[i] = base^(-2 i / dims), i = 0 .. dims/2 - 1, in radians per token.
  ///
  /// With emulate_bf16, frequencies, positions and their products are each rounded to bfloat16, as
  /// the runs published with Rotary and Sinusoidal baselines did by accident: positions beyond 256
  /// merge. Only for reproducing them.
  Angles(int64_t dims, double base, bool emulate_bf16 = false);

  const std::vector<double>& inv_freq() const { return inv_freq_; }
  double operator()(double position, size_t i) const;

 private:
  std::vector<double> inv_freq_;
  bool emulate_bf16_;
};

}  // namespace farfield::posenc
