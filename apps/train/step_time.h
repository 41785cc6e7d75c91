#pragma once

#include <cstdint>
#include <string>

#include "apps/train/step_shape.h"
#include "layers/config.h"

namespace farfield::train {

/// "a step takes about 4 min 10 s, all 200 about 13 h 53 min (first one running)": an estimate for
/// n_step steps on the CPU of n_process machines like this one, from step_gflop() and the measured
/// peak of this machine's processors. Empty if a step takes seconds only, since the first steps
/// soon tell more.
std::string long_step_text(const ModelConfig& config, const StepShape& shape, int64_t n_step,
                           int64_t n_process);

}  // namespace farfield::train
