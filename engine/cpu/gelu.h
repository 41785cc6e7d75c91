#pragma once
// GELU and its derivative of whole vectors.

#include <cmath>
#include <numbers>

#include "engine/cpu/lanes.h"
#include "engine/vector_math.h"
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace farfield::lanes {
inline namespace FARFIELD_LANES {

/// GELU and its derivative at u.
template <class A>
struct Gelu {
  Vec<A> value, slope;
};

/// fast_gelu() and fast_gelu_grad() of each lane. In float32 within their absolute errors, not to
/// the bit: far left of 0, where GELU is smaller than these, it may be 0.
template <class A>
class GeluLanes {
 public:
  Gelu<A> operator()(Vec<A> u) const {
    A value[kLanes<A>], slope[kLanes<A>];
    store<A>(value, u);
    for (int64_t i = 0; i < kLanes<A>; ++i) {
      slope[i] = fast_gelu_grad(value[i]);
      value[i] = fast_gelu(value[i]);
    }
    return {load(value), load(slope)};
  }
};

#if defined(__AVX512F__)
// Phi(u) - 1/2 is odd: of |u|, it is a polynomial in each of 16 segments, the coefficients of a
// power in one register, and 1/2 in the last. Its derivative is the density.
template <>
class GeluLanes<float> {
 public:
  GeluLanes() {
    static const Table table;
    for (int i = 0; i < kPowers; ++i) power_[i] = load(table.power[i]);
  }

  Gelu<float> operator()(Vec<float> u) const {
    using I = IntVec<float>;
    const I sign = (I)u & (I)splat(-0.F);
    const Vec<float> distance = (Vec<float>)((I)u ^ sign) * splat(kPerUnit);
    const Vec<float> last = splat(kSegments - 1.F);
    const Vec<float> x = distance > last ? last : distance;  // NaN stays
    const Vec<float> shifted = x + splat(kRound);            // the segment in its low bits
    const Vec<float> z = x - (shifted - splat(kRound));
    const auto at_segment = [&](Vec<float> entries) {
      // With a mask of all: GCC 12 warns of the form without one.
      return reinterpret_cast<Vec<float>>(_mm512_maskz_permutexvar_ps(
          0xFFFF, reinterpret_cast<__m512i>(shifted), reinterpret_cast<__m512>(entries)));
    };
    // Horner's rule for the polynomial and its derivative.
    Vec<float> derivative = at_segment(power_[kPowers - 1]);
    Vec<float> half = derivative * z + at_segment(power_[kPowers - 2]);
#pragma GCC unroll 8
    for (int i = kPowers - 3; i >= 0; --i) {
      derivative = derivative * z + half;
      half = half * z + at_segment(power_[i]);
    }
    const auto distribution = [&](Vec<float> odd) {
      return (Vec<float>)((I)odd ^ sign) + splat(0.5F);
    };
    return {u * distribution(half), distribution(half + x * derivative)};
  }

 private:
  static constexpr int kPowers = 7, kSegments = 16;
  static constexpr float kPerUnit = 2.5F;      // segments
  static constexpr float kRound = 12582912.F;  // 1.5 * 2^23: adding it rounds to an integer

  // Interpolates at Chebyshev nodes. In segment k, u = (k + z) / kPerUnit, |z| <= 1/2.
  struct Table {
    float power[kPowers][kSegments];

    Table() {
      for (int k = 0; k < kSegments; ++k) {
        double z[kPowers], difference[kPowers], p[kPowers] = {};
        for (int i = 0; i < kPowers; ++i) {
          z[i] = 0.5 * std::cos(std::numbers::pi * (2 * i + 1) / (2 * kPowers));
          const double u = (k + z[i]) / kPerUnit;
          difference[i] = k + 1 == kSegments ? 0.5 : 0.5 * std::erf(u / std::numbers::sqrt2);
        }
        for (int order = 1; order < kPowers; ++order)
          for (int i = kPowers - 1; i >= order; --i)
            difference[i] = (difference[i] - difference[i - 1]) / (z[i] - z[i - order]);
        for (int i = kPowers - 1; i >= 0; --i) {  // from Newton's form to powers of z
          for (int j = kPowers - 1; j > 0; --j) p[j] = p[j - 1] - z[i] * p[j];
          p[0] = difference[i] - z[i] * p[0];
        }
        for (int j = 0; j < kPowers; ++j) power[j][k] = static_cast<float>(p[j]);
      }
    }
  };

  Vec<float> power_[kPowers];
};
#endif

}  // namespace FARFIELD_LANES
}  // namespace farfield::lanes
