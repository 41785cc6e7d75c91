#pragma once

#include <cmath>

namespace farfield::apps {

/// exp(mean_nll), nats per token; infinite above 700, where exp would soon overflow.
inline double perplexity_of(double mean_nll) {
  return mean_nll > 700 ? INFINITY : std::exp(mean_nll);
}

}  // namespace farfield::apps
