#pragma once

#include <cstdint>

namespace farfield {

/// Linear warm-up, then a cosine. I updates, of which W = warmup_fraction I warm up.
struct Schedule {
  /// How the cosine runs.
  enum class Form {
    neox,    ///< as in GPT-NeoX: its period is I, and it stops short of its end
    fairseq  ///< as in fairseq: from the end of the warm-up to update I; W is a whole number
  };
  double peak_lr = 1e-3;          ///< the largest rate
  int64_t decay_steps = 1000;     ///< I, in updates
  double warmup_fraction = 0.01;  ///< W / I, in [0, 0.5]
  double start_lr = 0;            ///< rate of the first update, if there is a warm-up
  double end_lr = 0;              ///< the rate at the end of a whole cosine
  Form form = Form::neox;
};

/// Learning rate of update u (1 for the first), a pure function. With k = u - 1 and k' = min(k, I -
/// W):
///   k <= W:        start_lr + (peak_lr - start_lr) k' / W
///   k > W, neox:   end_lr + (peak_lr - end_lr) / 2 (1 + cos(pi (k' - W) / I))
///   k > W, fairseq: end_lr + (peak_lr - end_lr) / 2 (1 + cos(pi (min(k, I) - W) / (I - W)))
/// For neox k' <= W holds in the first row too, and the argument of the cosine stops at (I - 2 W) /
/// I: the rate does not reach end_lr, and stays where it is afterwards. For fairseq W is rounded,
/// and the first row has k.
///
/// Throws    ConfigError for u < 1, a rate that is not finite or negative, a start or an end above
///           the peak, decay_steps < 1, or a warm-up outside [0, 0.5]
/// Source    megatron/learning_rates.py in chijames/KERPLE; optim/lr_scheduler/cosine_lr_scheduler
///           in ofirpress/attention_with_linear_biases, with one period
double learning_rate(const Schedule& schedule, int64_t update);

}  // namespace farfield
