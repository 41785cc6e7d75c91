#pragma once

#include <cstdint>

namespace farfield::test {

/// The sum of n products in float64, one after another.
double dot(const double* x, const double* y, int64_t n);

}  // namespace farfield::test
