#pragma once

#include <string>
#include <vector>

#include "apps/sweep/arms.h"
#include "apps/sweep/measured.h"

namespace farfield::sweep {

// The experiments context/* that change one trained rotary model, without training and with a short
// fine-tune. One training serves all of them, or a run that the user gives (given_run.h).
// Source    "Extending Context is Hard...but not Impossible" (2023)

/// Labels of the unchanged model and of the model under plain log n scaling, and the key of their
/// measurement.
inline constexpr const char *kUnchanged = "no change", *kLogN = "log n", *kCoherence = "P16";
/// Ranges of positions in the words of findings.
inline constexpr const char *kFar = "PPL from 2 to 4 L", *kNear = "PPL from 0.75 to 1 L";

/// The model that all others change: 1500 steps at `tiny`.
Arm trained_rotary();
/// The same model, measured under another expression.
Arm tested_with(const std::string& label, const std::string& posenc);
/// A fine-tune of so many steps at `tiny`, on sequences of `lengths`.
Arm fine_tuned(const std::string& label, const std::string& posenc, int steps,
               const std::string& lengths = "1:{4}");

/// "context/NAME": the unchanged model and the arms, with perplexity by position and continuations.
Experiment intervention(int place, const std::string& name, const std::string& title,
                        std::vector<Arm> arms, std::vector<Finding> findings);

/// Perplexity in a region, named by its bounds in training lengths: "1.25_to_1.5".
double region(const Measured& m, const std::string& arm, const char* bounds);
/// The mean perplexity from 2 to 4 training lengths, and in range.
double far(const Measured& m, const std::string& arm);
double near(const Measured& m, const std::string& arm);

/// Asks that perplexity from 2 to 4 L differs from the unchanged model's by this share at most.
void as_before(const Measured& m, Evidence& e, const char* arm, double share);

}  // namespace farfield::sweep
