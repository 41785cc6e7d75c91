#include "data/synthetic/elementary.h"

#include <cmath>

namespace farfield::data {
namespace {

// ln 2 in two parts: k times the first is exact for the k that occur.
constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;

}  // namespace

double portable_log(double x) {
  int k = 0;
  double m = std::frexp(x, &k);  // in [1/2, 1)
  if (m < kSqrtHalf) {
    m *= 2;
    --k;
  }
  // ln m = 2 artanh z = 2 (z + z^3 / 3 + ...), |z| <= 0.1716: z^25 / 25 is below 1e-20
  const double z = (m - 1) / (m + 1), square = z * z;
  double series = 0;
  for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * square;
  return k * kLn2High + (k * kLn2Low + 2 * (z * series + z));
}

double portable_exp(double x) {
  if (x < -700) return 0;
  const double k = std::floor(x * kInverseLn2 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= 0.35: r^15 / 15! is below 1e-19
  double series = 1;
  for (int n = 14; n >= 1; --n) series = 1 + r / n * series;
  return std::ldexp(series, static_cast<int>(k));
}

}  // namespace farfield::data
