#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "engine/host_device.h"

namespace farfield {

// Elementary functions without branches, tables or calls, so that a loop over them becomes vector
// code. The coefficients are minimax fits made for these intervals; the errors stated are held by
// tests. In double they call the C++ library.

/// e^x. float: relative error below 1.5e-7; 0 below -86.6, infinity above 88.73; NaN stays NaN.
FARFIELD_HD inline float fast_exp(float x) {
  constexpr float kLow = -86.6f, kHigh = 88.73f;
  // x = n log(2) + r: adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  constexpr float kShift = 12582912.0f;
  const float clamped = x < kLow ? kLow : (x > kHigh ? kHigh : x);
  const float shifted = clamped * 1.44269504f + kShift;
  const float n = shifted - kShift;
  const float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  // 2 e^r: the factor keeps 2^(n - 1) in range where e^x itself overflows late.
  float p = 2.762919279e-3f;
  p = p * r + 1.673743418e-2f;
  p = p * r + 8.333677619e-2f;
  p = p * r + 3.333304126e-1f;
  p = p * r + 9.999998690e-1f;
  p = p * (r * r) + (2 * r + 2);
  const auto exponent = (std::bit_cast<uint32_t>(shifted) + 126u) << 23;  // of 2^(n - 1)
  const float y = p * std::bit_cast<float>(exponent);
  return x < kLow ? 0.0f : y;
}
FARFIELD_HD inline double fast_exp(double x) { return std::exp(x); }

/// The standard normal distribution function at u, and its density.
template <class T>
struct Normal {
  T distribution, density;
};
/// From e = e^(-u^2 / 2) and t = 1 / (1 + 0.2316419 |u|): Abramowitz and Stegun 1964, 26.2.17.
/// Absolute error of the distribution function below 3e-7 with these exact.
FARFIELD_HD inline Normal<float> normal_at(float u, float e, float t) {
  float p = 1.330274429f;
  p = p * t - 1.821255978f;
  p = p * t + 1.781477937f;
  p = p * t - 0.356563782f;
  p = p * t + 0.319381530f;
  const float density = 0.39894228040f * e, tail = density * (p * t);
  return {u < 0 ? tail : 1 - tail, density};
}
FARFIELD_HD inline Normal<float> normal_at(float u) {
#ifdef __CUDA_ARCH__
  float e, t;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(u * u * -0.72134752f));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(t) : "f"(fabsf(u) * 0.2316419f + 1));
  return normal_at(u, e, t);
#else
  // Not by a comparison, which g++ 14 would make a branch of, together with the one above.
  return normal_at(u, fast_exp(-0.5f * u * u), 1 / (std::fabs(u) * 0.2316419f + 1));
#endif
}
FARFIELD_HD inline Normal<double> normal_at(double u) {
  return {0.5 * (1 + std::erf(u * 0.70710678118654752440)),
          0.39894228040143267794 * std::exp(-0.5 * u * u)};
}

/// u Phi(u), Phi the standard normal distribution function: GELU. Hendrycks and Gimpel 2016,
/// arXiv:1606.08415. float: absolute error below 1e-6.
template <class T>
FARFIELD_HD inline T fast_gelu(T u) {
  return u * normal_at(u).distribution;
}
/// Its derivative Phi(u) + u phi(u). float: absolute error below 1e-6.
template <class T>
FARFIELD_HD inline T fast_gelu_grad(T u) {
  const Normal<T> normal = normal_at(u);
  return normal.distribution + u * normal.density;
}

/// The hyperbolic tangent. float: relative error below 3e-7.
FARFIELD_HD inline float fast_tanh(float x) {
  const float a = x < 0 ? -x : x;
  const float t = x * x;
  float p = -0.005704967602f;
  p = p * t + 0.02063906814f;
  p = p * t - 0.05373970851f;
  p = p * t + 0.1333144211f;
  p = p * t - 0.3333328194f;
  const float near = x + x * t * p;  // below 0.625, where the other form cancels
  const float far = 1 - 2 / (fast_exp(2 * a) + 1);
  return a < 0.625f ? near : (x < 0 ? -far : far);
}
FARFIELD_HD inline double fast_tanh(double x) { return std::tanh(x); }

}  // namespace farfield
