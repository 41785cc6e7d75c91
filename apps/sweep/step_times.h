#pragma once

#include "apps/sweep/measured.h"

namespace farfield::sweep {

// Times of training steps (P10) of two models that were measured one after the other.

/// Below `small` the order of two models is decided only where their medians differ by more than
/// this factor: on a machine that does other work, models of the same cost differed by up to 12 %.
inline constexpr double kMachineDrift = 1.15;

/// Seconds of a training step. `percentile`: "" for the median, "_p10" or "_p90".
double step_time(const Measured& m, const PlannedArm& arm, const char* percentile = "");

/// Whether the order of two models can be told: most steps of one are faster than most steps of the
/// other, by more than kMachineDrift. True where a time is missing, and from `small` on.
bool are_step_times_apart(const Measured& m, const PlannedArm& a, const PlannedArm& b);

/// What an undecided order lacks.
inline constexpr const char* kStepTimesApart =
    "apart by more than 15 % and by more than the spread of single steps";

}  // namespace farfield::sweep
