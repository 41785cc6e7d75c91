#include "apps/sweep/step_times.h"

#include <cmath>

#include "engine/base/text.h"

namespace farfield::sweep {

double step_time(const Measured& m, const PlannedArm& arm, const char* percentile) {
  return m.value(arm, "P10", concat("train_step_s", percentile));
}

bool are_step_times_apart(const Measured& m, const PlannedArm& a, const PlannedArm& b) {
  const double ratio = step_time(m, a) / step_time(m, b);
  if (m.is_published() || std::isnan(ratio)) return true;
  return std::abs(std::log(ratio)) > std::log(kMachineDrift) &&
         (step_time(m, a, "_p90") < step_time(m, b, "_p10") ||
          step_time(m, b, "_p90") < step_time(m, a, "_p10"));
}

}  // namespace farfield::sweep
