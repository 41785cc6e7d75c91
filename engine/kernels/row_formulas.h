#pragma once
// Formulas of norm and softmax for an element, given sums over its row.

#include <cmath>

#include "engine/host_device.h"
#include "engine/vector_math.h"

namespace farfield {

/// The inverse of the standard deviation that layer norm divides by.
template <class A>
FARFIELD_HD A rstd_of(A variance, A eps) {
  return 1 / std::sqrt(variance + eps);
}
template <class A>
FARFIELD_HD A normalized(A s, A mean, A rstd) {
  return (s - mean) * rstd;
}
/// ds of layer norm, with n = normalized(s), g = dy weight and means over the row.
template <class A>
FARFIELD_HD A normalized_grad(A n, A g, A mean_g, A mean_gn, A rstd) {
  return rstd * (g - mean_g - n * mean_gn);
}

/// dx of y = softmax(x), with the row's sum of y dy.
template <class A>
FARFIELD_HD A softmax_grad(A y, A dy, A sum_ydy) {
  return y * (dy - sum_ydy);
}
/// dx of y = log softmax(x), with the row's sum of dy.
template <class A>
FARFIELD_HD A log_softmax_grad(A y, A dy, A sum_dy) {
  return dy - fast_exp(y) * sum_dy;
}

}  // namespace farfield
