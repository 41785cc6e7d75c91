#include "apps/bench/timing.h"

#include <sys/resource.h>

#include <algorithm>

#include "apps/analysis/spread.h"

namespace farfield::apps {

double Samples::median() const { return median_of(values_); }
double Samples::min() const { return *std::min_element(values_.begin(), values_.end()); }
double Samples::max() const { return *std::max_element(values_.begin(), values_.end()); }

double median_ratio(const Samples& a, const Samples& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.values().size(), b.values().size()); ++i)
    ratios.push_back(a.values()[i] / b.values()[i]);
  return median_of(ratios);
}

int64_t peak_resident_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;  // Linux counts in KiB
}

}  // namespace farfield::apps
