#pragma once

#include <string>

#include "apps/eval/options.h"
#include "apps/sweep/plan.h"

namespace farfield::sweep {

/// The checked `eval` options of a measurement. ConfigError for several baselines.
eval::EvalOptions options_of(const Measurement& m);
/// The split of the corpus that it reads: "test" unless it says another.
std::string split_of(const Measurement& m);

}  // namespace farfield::sweep
