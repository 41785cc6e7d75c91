#pragma once

#include <cstdint>
#include <vector>

#include "posenc/arguments.h"
#include "posenc/encoding.h"

namespace farfield::posenc {

/// The part of the product of two sinusoidal position vectors that depends on the distance:
/// S(d) = sum over i < bar_d/2 of cos(d w_i), less bar_d/2, with
/// w_i = base^(-2 (i + first_index) / bar_d). The shift makes S(0) = 0 and S <= 0: softmax does not
/// see it, rounded logits do.
class SandwichCurve {
 public:
  /// From the arguments bar_d, base and first_index. ConfigError for an odd bar_d.
  explicit SandwichCurve(const Arguments& a);

  double operator()(double distance) const;
  /// At the distances of all table entries: [1, L] in float64. The latest one is kept.
  Tensor table(const Positions& p) const;

 private:
  std::vector<double> frequency_;  // radians per token
  mutable std::vector<double> distance_;
  mutable Tensor table_;  // at distance_
};

/// h_j = 8 j / n_head, j from 1: the first head decays fastest.
std::vector<double> compression_ratios(int64_t n_head);
/// The argument "h", else compression_ratios(): [H, 1] in float64.
Tensor read_ratios(const Arguments& a, const Config& c);

ArgumentSpec bar_d_argument();
ArgumentSpec ratio_argument();
ArgumentSpec first_index_argument();

}  // namespace farfield::posenc
