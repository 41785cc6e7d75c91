#include "engine/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "engine/base/error.h"

namespace farfield {

double learning_rate(const Schedule& schedule, int64_t update) {
  require<ConfigError>(update >= 1, "schedule", "expected an update number >= 1, got ", update);
  require<ConfigError>(std::isfinite(schedule.peak_lr) && schedule.peak_lr >= 0, "schedule",
                       "expected a finite peak_lr >= 0, got ", schedule.peak_lr);
  require<ConfigError>(schedule.decay_steps >= 1, "schedule", "expected decay_steps >= 1, got ",
                       schedule.decay_steps);
  require<ConfigError>(schedule.warmup_fraction >= 0 && schedule.warmup_fraction <= 0.5, "schedule",
                       "expected warmup_fraction in [0, 0.5], got ", schedule.warmup_fraction);
  for (const auto& [name, lr] :
       {std::pair<const char*, double>{"start_lr", schedule.start_lr}, {"end_lr", schedule.end_lr}})
    require<ConfigError>(lr >= 0 && lr <= schedule.peak_lr, "schedule", "expected ", name,
                         " from 0 to the peak of ", schedule.peak_lr, ", got ", lr);
  const auto period = static_cast<double>(schedule.decay_steps);
  const auto index = static_cast<double>(update - 1);
  const auto warming = [&](double share) {
    return schedule.start_lr + (schedule.peak_lr - schedule.start_lr) * share;
  };
  const auto falling = [&](double share) {
    return schedule.end_lr +
           (schedule.peak_lr - schedule.end_lr) / 2 * (1 + std::cos(std::numbers::pi * share));
  };
  if (schedule.form == Schedule::Form::fairseq) {
    const double warmup = std::round(schedule.warmup_fraction * period);
    if (index < warmup) return warming(index / warmup);
    return falling((std::min(index, period) - warmup) / (period - warmup));
  }
  const double warmup = schedule.warmup_fraction * period;
  const double k = std::min(index, period - warmup);
  if (warmup > 0 && index <= warmup) return warming(k / warmup);
  return schedule.end_lr + (schedule.peak_lr - schedule.end_lr) / 2 *
                               (1 + std::cos(std::numbers::pi * (k - warmup) / period));
}

}  // namespace farfield
