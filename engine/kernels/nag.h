#pragma once

#include <array>

#include "engine/host_device.h"
#include "engine/kernels/adamw.h"

namespace farfield {

inline constexpr int kNagRates = 5;

/// The coefficients of the rule below, from lr and from the previous update's lr (0: no previous
/// update). With c = lr / previous_lr: momentum^2 c, (1 + momentum) lr, momentum c, lr, 1 - lr
/// weight_decay. On the host, in float64.
inline std::array<double, kNagRates> nag_rates(double lr, double previous_lr, double momentum,
                                               double weight_decay) {
  const double c = previous_lr > 0 ? lr / previous_lr : 1;
  return {momentum * momentum * c, (1 + momentum) * lr, momentum * c, lr, 1 - lr * weight_decay};
}

/// One update of Nesterov's accelerated gradient as what it does to one element, for both devices:
///   x = (1 - lr weight_decay) x + momentum^2 c m - (1 + momentum) lr g,  m = momentum c m - lr g
/// Source: fairseq, optim/nag.py, in the fork of ofirpress/attention_with_linear_biases.
template <class T>
struct NagRule {
  T scale = 1;  // of the gradient: clip_scale()
  T ahead = 0, step_ahead = 0, keep_velocity = 0, step = 0;
  T keep = 1;  // 1 - lr weight_decay, or 1 without decay

  /// Call before the first element: reads the result of nag_rates() from memory.
  FARFIELD_HD void take(const double* rates, bool decay) {
    ahead = static_cast<T>(rates[0]);
    step_ahead = static_cast<T>(rates[1]);
    keep_velocity = static_cast<T>(rates[2]);
    step = static_cast<T>(rates[3]);
    keep = decay ? static_cast<T>(rates[4]) : T{1};
  }

  /// m and x after the update with this gradient.
  FARFIELD_HD void operator()(T grad, T& m, T& x) const {
    const T g = grad * scale;
    x = keep * x + ahead * m - step_ahead * g;
    m = keep_velocity * m - step * g;
  }
};

}  // namespace farfield
