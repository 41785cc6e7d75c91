#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

namespace farfield::test {

/// The larger of two errors; NaN when one of them is, which std::max would drop.
inline double larger_error(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// The largest |got - want|, 0 for infinities that are the same; NaN when one of these is.
inline double largest_error(const std::vector<double>& got, const std::vector<double>& want) {
  BOOST_REQUIRE_EQUAL(got.size(), want.size());
  double largest = 0;
  for (size_t i = 0; i < got.size(); ++i)
    if (got[i] != want[i]) largest = larger_error(largest, std::abs(got[i] - want[i]));
  return largest;
}

}  // namespace farfield::test
