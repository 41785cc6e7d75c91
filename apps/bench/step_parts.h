#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/cli/table.h"
#include "apps/train/timed_step.h"
#include "layers/config.h"

namespace farfield::bench {

/// A part of a training step on the CPU: kernels of one kind.
struct StepPartTime {
  std::string name = {};
  std::array<double, 3> time_s = {};  ///< of forward, backward and update; medians

  double total() const { return time_s[0] + time_s[1] + time_s[2]; }
};

/// Where the time of a step goes.
struct StepTimeline {
  std::vector<StepPartTime> parts = {};  ///< the longest first; the last is all that is no kernel
  double step_s = 0;                     ///< sum of its three phases
  double parallel_share = 0;             ///< of the step: calls of parallel_for
  double n_busy = 0;                     ///< threads that work in these, on average
};

/// Medians over rounds of a step in parts.
StepTimeline timeline_of(train::TimedStep& step, int64_t rounds);

/// The least time of a part: its flop at the peak rate, or its bytes at the rate of a copy,
/// whichever is longer; 0 where no limit is known. Bytes are as if nothing stayed in a cache, so a
/// small model may be faster.
///
/// product_gflop, peak_gflops, copy_s   of the products of a step; a second; bytes a second
double least_time_of(const std::string& part, const ModelConfig& config, int64_t batch_size,
                     DType dtype, double product_gflop, double peak_gflops, double copy_s);

/// The empty table of `bench step --parts`, and its rows for a model.
cli::Table parts_table();
void add_parts(cli::Table& table, const std::string& posenc, const StepTimeline& timeline,
               const std::vector<double>& least_s);
/// "2 threads: ...": how busy they are.
std::string threads_text(const StepTimeline& timeline, int64_t n_thread);

}  // namespace farfield::bench
