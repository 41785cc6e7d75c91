#pragma once

#include <array>
#include <cmath>

#include "engine/host_device.h"
#include "engine/kernels/optim.h"

namespace farfield {

/// The factor that clips gradients to the norm max_norm: 1 if (norm + 1e-6) / max_norm <= 1, else
/// max_norm / (norm + 1e-6). max_norm 0 turns it off. Source: DeepSpeed's fused optimizer,
/// unscale_and_clip_grads; the 1e-6 is theirs.
FARFIELD_HD inline double clip_scale(double norm, double max_norm) {
  if (max_norm == 0) return 1;
  const double excess = (norm + 1e-6) / max_norm;
  return excess <= 1 ? 1 : 1 / excess;
}

/// Whether an update goes ahead: see StepGuard.
FARFIELD_HD inline bool may_update(double loss, double grad_norm) {
  return std::isfinite(loss) && std::isfinite(grad_norm);
}

/// The coefficients of the rule below, from lr and from t, the number of the update in the bias
/// corrections (1 for the first): lr / c1, 1 / c2 and 1 - lr weight_decay. On the host, in float64.
inline std::array<double, 3> adamw_rates(double lr, double beta1, double beta2, double weight_decay,
                                         int64_t t) {
  const auto n = static_cast<double>(t);
  return {lr / (1 - std::pow(beta1, n)), 1 / (1 - std::pow(beta2, n)), 1 - lr * weight_decay};
}

/// One update of AdamW as what it does to one element, for both devices: T is float or double, and
/// the constants of an update are rounded to it once.
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
///   x = x - lr (weight_decay x + (m / c1) / (sqrt(v / c2) + eps)),  c = 1 - beta^t
/// Source: Loshchilov and Hutter 2019, arXiv:1711.05101.
template <class T>
struct AdamWRule {
  T scale = 1;  // of the gradient: clip_scale()
  T beta1, rest1, beta2, rest2, eps;
  T rate = 0;         // lr / c1
  T correction2 = 0;  // 1 / c2
  T keep = 1;         // 1 - lr weight_decay, or 1 without decay

  explicit AdamWRule(const AdamWStep& step)
      : beta1(static_cast<T>(step.beta1)),
        rest1(static_cast<T>(1 - step.beta1)),
        beta2(static_cast<T>(step.beta2)),
        rest2(static_cast<T>(1 - step.beta2)),
        eps(static_cast<T>(step.eps)) {}

  /// Call before the first element: reads the result of adamw_rates() from memory.
  FARFIELD_HD void take(const double* rates, bool decay) {
    rate = static_cast<T>(rates[0]);
    correction2 = static_cast<T>(rates[1]);
    keep = decay ? static_cast<T>(rates[2]) : T{1};
  }

  /// m, v and x after the update with this gradient.
  FARFIELD_HD void operator()(T grad, T& m, T& v, T& x) const {
    const T g = grad * scale;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * g * g;
    x = keep * x - rate * m / (std::sqrt(v * correction2) + eps);
  }
};

}  // namespace farfield
