#pragma once

#include <cstdint>
#include <functional>

#include "apps/analysis/timing.h"

namespace farfield::eval {

/// A clock in seconds; only differences mean something.
struct StepClock {
  std::function<double()> now_s;
  double resolution_s = 0;  ///< the smallest difference between two readings that it can show
};

/// The machine's monotonic clock, with its measured resolution.
StepClock machine_clock();
/// The smallest difference between consecutive readings, over a few of them.
double resolution_of(const std::function<double()>& now_s);

/// Times of steps of one kind.
struct StepTimes {
  analysis::Samples step_s;  ///< time per step: of each timed block, divided by the steps in it
  int64_t block = 1;         ///< steps between two looks at the clock
  bool is_whole = false;     ///< all steps were timed; false: `step` refused to run
  int64_t n_step() const { return step_s.size() * block; }
};

/// Times at least n steps, n >= 1. Steps are timed one by one where the clock's resolution is at
/// most 1 % of a step, else in blocks of 2, 4, 8 ... until it is at most 1 % of a block; times of
/// smaller blocks are discarded. `step` runs one step to its end, or returns false if it runs none:
/// the unfinished block is left out then.
StepTimes time_steps(const StepClock& clock, int64_t n, const std::function<bool()>& step);

}  // namespace farfield::eval
