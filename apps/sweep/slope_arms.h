#pragma once

// The models of tables 1, 2 and 4 and figures 4, 5, 12 and 13 of the Sandwich paper: slopes of
// ALiBi that are shifted, equal or bounded from below, and windows.

#include <vector>

#include "apps/sweep/evidence.h"
#include "apps/sweep/experiment.h"
#include "apps/sweep/measured.h"

namespace farfield::sweep {

// Groups of these arms.
inline constexpr const char *kShift = "slope shift", *kEqual = "equal slopes", *kWindow = "window",
                            *kFloored = "no slope below 0.01";

/// One model, with its value in Arm::values: "delta", or "w" in tokens.
Arm slope_shift(double delta);
Arm window_of(double w, Arm::Scales scales);

std::vector<Arm> slope_shifts();
std::vector<Arm> equal_slopes();
/// As the paper's models of three columns most likely were: truth/slope-floor.
std::vector<Arm> floored_slopes();
/// A window's field over L depends on the depth, so models of 4 layers have windows of their own:
/// experiments.md 2.5.
std::vector<Arm> windows();

double value_of(const PlannedArm& arm, const char* name);
/// The effective receptive field (P6), in tokens of this scale.
double erf(const Measured& m, const PlannedArm& arm);
/// L in tokens of this scale.
double unit(const Measured& m);

/// PPL 16 L / PPL 8 L is 1, within a tolerance; a note where the field is too long to tell.
void is_constant(const Measured& m, Evidence& e, const PlannedArm& arm, double tolerance);

}  // namespace farfield::sweep
