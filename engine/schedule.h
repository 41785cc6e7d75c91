#pragma once

#include <cstdint>

namespace farfield {

/// Linear warm-up, then a cosine, as in the published runs.
struct Schedule {
  double peak_lr = 1e-3;          ///< the largest rate
  int64_t decay_steps = 1000;     ///< I: period of the cosine, in updates
  double warmup_fraction = 0.01;  ///< W / I: share of decay_steps spent warming up, in [0, 0.5]
};

/// Learning rate of update u (1 for the first), a pure function. With k = u - 1, W =
/// warmup_fraction I and k' = min(k, I - W):
///   k <= W:  peak_lr k' / W                        (so the first update has rate 0 when W > 0)
///   k >  W:  peak_lr / 2 (1 + cos(pi (k' - W) / I))
/// The argument stops at (I - 2 W) / I: the rate does not reach 0, and stays where it is
/// afterwards.
///
/// Throws    ConfigError for u < 1, a rate that is not finite or negative, decay_steps < 1, or a
///           warm-up outside [0, 0.5]
/// Source    megatron/learning_rates.py in chijames/KERPLE
double learning_rate(const Schedule& schedule, int64_t update);

}  // namespace farfield
