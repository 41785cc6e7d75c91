#pragma once

#include <cstdint>
#include <string>

#include "apps/train/step_shape.h"
#include "layers/config.h"

namespace farfield::train {

/// "a step takes about 4 min 10 s, all 200 about 13 h 53 min (first one running)": what to expect
/// of n_step steps on the CPU of n_process machines like this, from what a step computes
/// (step_gflop()) and the peak of this one's processors, which is measured. Empty where a step
/// takes seconds, so that it is soon known better.
std::string long_step_text(const ModelConfig& config, const StepShape& shape, int64_t n_step,
                           int64_t n_process);

}  // namespace farfield::train
