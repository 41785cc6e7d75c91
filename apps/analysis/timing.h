#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/clock.h"

namespace farfield::analysis {

/// Seconds that f takes, once.
template <class F>
double seconds(const F& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return seconds_since(start);
}

/// Measurements of one thing.
class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  bool empty() const { return values_.empty(); }
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  /// The middle one, or the mean of the two in the middle. At least one sample.
  double median() const;
  /// The value that a share q of the samples does not exceed, 0 <= q <= 1, by straight lines
  /// between neighbours: quantile(0.5) is the median. At least one sample.
  double quantile(double q) const;
  double min() const;
  double max() const;
  const std::vector<double>& values() const { return values_; }

 private:
  std::vector<double> values_;
};

/// The median of a[i] / b[i]: what two things measured in turn differ by, with slow drifts of the
/// machine taken out.
double median_ratio(const Samples& a, const Samples& b);

/// "x percent faster", as the papers count: relative to the other, (other - own) / other.
inline double percent_faster(double own_s, double other_s) {
  return 100 * (other_s - own_s) / other_s;
}

}  // namespace farfield::analysis
