#pragma once
// What the encodings of KERPLE have in common: the bounds of their parameters, and the arguments.
// Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE: Kernelized Relative Positional Embedding for Length
// Extrapolation", arXiv:2205.09921; bounds as in the authors' code.

#include <string>

#include "posenc/head_parameter.h"
#include "posenc/shared_arguments.h"

namespace farfield::posenc {

inline constexpr Bounds kAmplitude{.least = kLeastPositive};
inline constexpr Bounds kRate{.least = kLeastPositive};
inline constexpr Bounds kPower{.least = kLeastPositive, .most = 2};

ArgumentSpec amplitude_argument(std::string name, Start start);
ArgumentSpec rate_argument(std::string name);
ArgumentSpec power_argument(std::string name);
/// The rate of a Gaussian-like kernel. Its bound is the argument gauss_rate_min: with the published
/// 0.01 no kernel exp(-rate d^2) is wider than about 10 tokens.
ArgumentSpec gauss_rate_argument(std::string name);
ArgumentSpec gauss_rate_min_argument();

/// One with a Gaussian-like kernel.
class GaussEncoding : public HeadEncoding {
 public:
  /// ConfigError for a rate that starts below gauss_rate_min.
  GaussEncoding(const Arguments& a, const Config& c);
};

}  // namespace farfield::posenc
