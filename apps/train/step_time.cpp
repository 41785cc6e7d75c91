#include "apps/train/step_time.h"

#include "apps/cli/duration.h"
#include "apps/train/peak.h"
#include "apps/train/step_flop.h"
#include "engine/base/error.h"

namespace farfield::train {

std::string long_step_text(const ModelConfig& config, const StepShape& shape, int64_t n_step,
                           int64_t n_process) {
  constexpr double kShareOfPeak = 0.5;     // that steps of the presets reach, about
  constexpr double kBlocksAgain = 4 / 3.;  // with activation checkpointing
  constexpr double kWorthSaying_s = 10;
  constexpr double kSlowest = 5;  // GFLOP/s that any processor has: less work needs no measurement
  const double gflop = step_gflop(config, shape.batch_size) *
                       (shape.checkpointing ? kBlocksAgain : 1) / static_cast<double>(n_process);
  if (gflop < kWorthSaying_s * kShareOfPeak * kSlowest) return "";
  const double step_s = gflop / (kShareOfPeak * fma_peak_gflops());
  if (step_s < kWorthSaying_s) return "";
  return concat("a step takes about ", cli::duration(step_s), ", all ", n_step, " about ",
                cli::duration(static_cast<double>(n_step) * step_s), " (first one running)");
}

}  // namespace farfield::train
