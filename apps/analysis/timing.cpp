#include "apps/analysis/timing.h"

#include <algorithm>

#include "apps/analysis/spread.h"

namespace farfield::analysis {

double Samples::median() const { return median_of(values_); }
double Samples::quantile(double q) const {
  std::vector<double> sorted = values_;
  std::sort(sorted.begin(), sorted.end());
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

double Samples::min() const { return *std::min_element(values_.begin(), values_.end()); }
double Samples::max() const { return *std::max_element(values_.begin(), values_.end()); }

double median_ratio(const Samples& a, const Samples& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.values().size(), b.values().size()); ++i)
    ratios.push_back(a.values()[i] / b.values()[i]);
  return median_of(ratios);
}

}  // namespace farfield::analysis
