#include "engine/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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
  const auto period = static_cast<double>(schedule.decay_steps);
  const double warmup = schedule.warmup_fraction * period;
  const auto index = static_cast<double>(update - 1);
  const double k = std::min(index, period - warmup);
  if (warmup > 0 && index <= warmup) return schedule.peak_lr * (k / warmup);
  return schedule.peak_lr / 2 * (1 + std::cos(std::numbers::pi * (k - warmup) / period));
}

}  // namespace farfield
