#include "apps/analysis/rise.h"

#include <algorithm>
#include <cmath>

namespace farfield::analysis {

double first_rise(std::span<const double> lengths,
                  const std::function<double(double)>& perplexity) {
  double least = INFINITY;
  for (const double length : lengths) {
    const double x = perplexity(length);
    if (std::isnan(x)) return x;
    if (x > kRise * least) return length;
    least = std::min(least, x);
  }
  return INFINITY;
}

}  // namespace farfield::analysis
