#pragma once

#include "engine/cpu/lanes.h"

namespace farfield::attention_cpu {

using namespace lanes;

// e^x = 2^n e^r with n = round(x / ln 2), |r| <= ln 2 / 2, and e^r = 1 + r + r^2 q(r); q
// interpolates (e^r - 1 - r) / r^2 at Chebyshev nodes. ln 2 is split in two so that n ln 2 is exact
// enough.
template <class A>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float kMin = -87.33F, kMax = 88.F;
  static constexpr float kLog2E = 1.44269504F, kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  static constexpr float kRound = 12582912.F;  // 1.5 * 2^23: adding it rounds to an integer
  static constexpr int32_t kBias = 127;
  static constexpr int kMantissa = 23;
  static constexpr float kQ[] = {0.5F, 0.16666576989698775F, 0.041666554617204574F,
                                 0.008363179052722578F, 0.0013926183587713494F};
};
template <>
struct ExpConstants<double> {
  static constexpr double kMin = -708.3, kMax = 709;
  static constexpr double kLog2E = 1.4426950408889634, kLn2High = 6.93147180369123816490e-01,
                          kLn2Low = 1.90821492927058770002e-10;
  static constexpr double kRound = 6755399441055744;  // 1.5 * 2^52
  static constexpr int64_t kBias = 1023;
  static constexpr int kMantissa = 52;
  static constexpr double kQ[] = {0.5,
                                  0.16666666666666669,
                                  0.04166666666662413,
                                  0.008333333333330062,
                                  0.0013888888917213717,
                                  0.00019841269863053618,
                                  2.4801521295954376e-05,
                                  2.7557268459997064e-06,
                                  2.7620088445409746e-07,
                                  2.510038549551032e-08};
};

/// e^x for x <= kMax, within 2 ulp; 0 below kMin (where e^x is subnormal), and for minus infinity;
/// NaN for NaN. Above kMax the result has no meaning.
template <class A>
inline Vec<A> exp_lanes(Vec<A> x) {
  using C = ExpConstants<A>;
  using V = Vec<A>;
  using I = IntVec<A>;
  const V shifted = x * splat(C::kLog2E) + splat(C::kRound);  // n in its low bits
  const V n = shifted - splat(C::kRound);
  const V r = (x - n * splat(C::kLn2High)) - n * splat(C::kLn2Low);
  constexpr int kDegree = static_cast<int>(sizeof(C::kQ) / sizeof(A)) - 1;
  V q = splat(C::kQ[kDegree]);
  for (int i = kDegree - 1; i >= 0; --i) q = q * r + splat(C::kQ[i]);
  const V e = (q * r) * r + (r + splat(A{1}));
  const I power = ((I)shifted + C::kBias) << C::kMantissa;  // a cast between vectors keeps the bits
  return x < splat(C::kMin) ? V{} : e * (V)power;
}

}  // namespace farfield::attention_cpu
