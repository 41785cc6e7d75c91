#pragma once

#include <cmath>

namespace farfield::analysis {

/// exp(mean_nll), nats per token; infinite above 700, where exp would soon overflow.
inline double perplexity_of(double mean_nll) {
  return mean_nll > 700 ? INFINITY : std::exp(mean_nll);
}

/// mean_nll, nats per token, in bits per byte of the text.
inline double bits_per_byte_of(double mean_nll, double bytes_per_token) {
  return mean_nll / std::log(2.0) / bytes_per_token;
}

}  // namespace farfield::analysis
