#pragma once

#include <array>
#include <bit>

#include "engine/cpu/lanes.h"
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

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

/// e^x for x <= kMax, within 2 ulp in float64, 3 in float32 (6 where |x| > 16); 0 below kMin (where
/// e^x is subnormal), and for minus infinity; NaN for NaN. Above kMax the result has no meaning.
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

#if defined(__AVX2__) && defined(__FMA__)
// The powers 2^(k / N), 0 <= k < N, are one vector in a register, so that e^x = 2^(n / N) e^r has
// |r| <= ln 2 / (2 N) and needs only e^r = 1 + r + c r^2 + r^3 / 6.
inline namespace FARFIELD_LANES {
struct ExpPowers {
  typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));  // their sums may wrap around
  static constexpr int kCount = static_cast<int>(kLanes<float>);      // N
  static constexpr int kFraction = ExpConstants<float>::kMantissa - std::countr_zero(kCount + 0U);
  static constexpr float kSteps = kCount * 1.4426950408889634F;  // N / ln 2
  // ln 2 / N: float32 has ln 2 so well that the error is as if x changed by 3e-9 of itself.
  static constexpr float kStep = 0.6931471805599453F / kCount;
  // c = 1 / 2 + (2^(1/2) - 1) / 12 R^2 is the best for |r| <= R.
  static constexpr float kSquare = kCount == 16 ? 0.500016195F : 0.500064782F;

  // The bits of 2^(k / N) less k in the place where k of n = N m + k is added to them.
  static constexpr std::array<uint32_t, kCount> kBits = [] {
    constexpr float kPowers[] = {1.F,         1.04427373F, 1.09050775F, 1.13878858F,
                                 1.18920708F, 1.24185777F, 1.29683959F, 1.35425556F,
                                 1.41421354F, 1.47682619F, 1.54221082F, 1.61049032F,
                                 1.68179286F, 1.75625217F, 1.8340081F,  1.91520655F};
    std::array<uint32_t, kCount> bits{};
    for (int k = 0; k < kCount; ++k)
      bits[static_cast<size_t>(k)] = std::bit_cast<uint32_t>(kPowers[k * 16 / kCount]) -
                                     (static_cast<uint32_t>(k) << kFraction);
    return bits;
  }();

  // at(): lane i is entry (index[i] mod N). minus_product(): x - a b, rounded once.
#if defined(__AVX512F__)
  static Words at(Words index, Words entries) {
    return reinterpret_cast<Words>(_mm512_maskz_permutexvar_epi32(
        0xFFFF, reinterpret_cast<__m512i>(index), reinterpret_cast<__m512i>(entries)));
  }
  static Vec<float> minus_product(Vec<float> x, Vec<float> a, Vec<float> b) {
    return reinterpret_cast<Vec<float>>(_mm512_fnmadd_ps(
        reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(x)));
  }
#else
  static Words at(Words index, Words entries) {
    return reinterpret_cast<Words>(_mm256_permutevar8x32_epi32(reinterpret_cast<__m256i>(entries),
                                                               reinterpret_cast<__m256i>(index)));
  }
  static Vec<float> minus_product(Vec<float> x, Vec<float> a, Vec<float> b) {
    return reinterpret_cast<Vec<float>>(_mm256_fnmadd_ps(
        reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(x)));
  }
#endif
};
}  // namespace FARFIELD_LANES

template <>
inline Vec<float> exp_lanes<float>(Vec<float> x) {
  using C = ExpConstants<float>;
  using V = Vec<float>;
  using Words = ExpPowers::Words;
  Words powers;
  std::memcpy(&powers, ExpPowers::kBits.data(), sizeof powers);
  const V shifted = x * splat(ExpPowers::kSteps) + splat(C::kRound);  // n in its low bits
  const V n = shifted - splat(C::kRound);
  const V r = ExpPowers::minus_product(x, n, splat(ExpPowers::kStep));  // rounded once
  const V q = r * splat(1 / 6.F) + splat(ExpPowers::kSquare);
  const V e = (q * r + splat(1.F)) * r + splat(1.F);
  const Words bits = (Words)shifted;
  const Words power = ExpPowers::at(bits, powers) + (bits << ExpPowers::kFraction);
  return x < splat(C::kMin) ? V{} : e * (V)power;
}
#endif

}  // namespace farfield::attention_cpu
