#pragma once

namespace farfield::data {

// Logarithm and exponential that give the same bits on every machine, for random text: the
// functions of C libraries differ in the last bit from library to library. Made of additions,
// multiplications and divisions alone, compiled without fused operations (data/CMakeLists.txt).

/// ln x for a finite x > 0 that is no subnormal number. Accuracy: 4e-16 relative, or absolute
/// near 1.
double portable_log(double x);

/// e^x for -700 <= x <= 700; 0 below. Accuracy: 5e-16 relative for |x| <= 1, 1e-13 to 700.
double portable_exp(double x);

}  // namespace farfield::data
