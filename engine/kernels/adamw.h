#pragma once

#include <cmath>

#include "engine/host_device.h"
#include "engine/kernels/optim.h"

namespace farfield {

/// What gradients are multiplied by so that their norm stays at max_norm:
/// 1 if (norm + 1e-6) / max_norm <= 1, else max_norm / (norm + 1e-6). max_norm 0 turns it off.
/// Source: DeepSpeed's fused optimizer, unscale_and_clip_grads; the 1e-6 is theirs.
FARFIELD_HD inline double clip_scale(double norm, double max_norm) {
  if (max_norm == 0) return 1;
  const double excess = (norm + 1e-6) / max_norm;
  return excess <= 1 ? 1 : 1 / excess;
}

/// Whether an update goes ahead: see StepGuard.
FARFIELD_HD inline bool may_update(double loss, double grad_norm) {
  return std::isfinite(loss) && std::isfinite(grad_norm);
}

/// One update of AdamW as what it does to one element, for both devices: T is float or double, and
/// the constants of an update are rounded to it once.
///   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
///   x = x - lr (weight_decay x + (m / c1) / (sqrt(v / c2) + eps)),  c = 1 - beta^t
/// Source: Loshchilov and Hutter 2019, arXiv:1711.05101.
template <class T>
struct AdamWRule {
  T scale = 1;  // of the gradient: clip_scale()
  T beta1, rest1, beta2, rest2;
  T rate;         // lr / c1
  T correction2;  // 1 / c2
  T eps;
  T keep;  // 1 - lr weight_decay, or 1 without decay

  AdamWRule(const AdamWStep& step, bool decay)
      : beta1(static_cast<T>(step.beta1)),
        rest1(static_cast<T>(1 - step.beta1)),
        beta2(static_cast<T>(step.beta2)),
        rest2(static_cast<T>(1 - step.beta2)),
        rate(static_cast<T>(step.lr / (1 - std::pow(step.beta1, static_cast<double>(step.t))))),
        correction2(static_cast<T>(1 / (1 - std::pow(step.beta2, static_cast<double>(step.t))))),
        eps(static_cast<T>(step.eps)),
        keep(static_cast<T>(decay ? 1 - step.lr * step.weight_decay : 1)) {}

  /// m, v and x after the update with this gradient.
  FARFIELD_HD void operator()(T grad, T& m, T& v, T& x) const {
    const T g = grad * scale;
    m = beta1 * m + rest1 * g;
    v = beta2 * v + rest2 * g * g;
    x = keep * x - rate * m / (std::sqrt(v * correction2) + eps);
  }
};

}  // namespace farfield
