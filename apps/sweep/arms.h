#pragma once

#include <array>
#include <string>

#include "apps/sweep/experiment.h"
#include "apps/sweep/reference.h"

namespace farfield::sweep {

// Models that several papers share. One model has one expression everywhere, so that its cells are
// shared.

/// With the label as its name in the paper's numbers' column `encoding`.
Arm arm_of(const std::string& label, const std::string& posenc, const std::string& encoding);

/// Slopes of 2^(-8 n / H), as the texts have it: Sandwich's tables.
Arm geometric_alibi();
/// Slopes as the released code interleaves them: KERPLE's tables, the notes on ALiBi. The same
/// model where the number of heads is a power of two.
Arm alibi();
Arm sandwich();
Arm smoothed();
Arm sinusoidal();
Arm rotary();
Arm t5();
Arm kerple_log();
Arm kerple_power();
Arm kerple_log3();
Arm bias_wht();
Arm gauss_wht1();
Arm gauss_wht2();
Arm gauss_bias2();
Arm gauss_bias3();

/// The encodings that have one look in every figure, in the order of the looks; by their name in
/// the paper's numbers.
inline constexpr std::array kLooks = {"alibi",        "kerple_log",       "sandwich",
                                      "rope",         "sinusoidal",       "t5",
                                      "kerple_power", "sandwich_smoothed"};

/// Slopes that are flatter by 2^delta, or all 2^-h, and never below 0.01: the models behind three
/// columns of the Sandwich paper's tables 1 and 4 that it prints with the same numbers.
Arm floored_shift(double delta);
Arm floored_equal(double h);

/// Every encoding of the registry that a comparison of all has, by its own name.
std::vector<Arm> compared_arms();

/// The source of the experiments context/*.
inline constexpr const char* kContextWriteUp = "Extending Context is Hard (2023)";

/// "trained at 2 L": the group of the arms of this training length, in units (scale.h).
std::string trained_at(double length);

/// P1 of the tables at 1, 2, 4, 8 and 16 L.
Measure last_token();
/// P6 of the token at 4 L: 4 L - 1 inputs.
Measure gradient();
/// Its curve, with the lines that the papers read it by.
Output cumulative_gradient();

/// A remark on measured times.
inline constexpr const char* kTimed =
    "Timed beside whatever else the machine did: one worker (--jobs 1) gives the fairest numbers.";

/// Whether a printed number is of this arm: by encoding and training length, and by variant and
/// param where the arm has them.
bool is_of(const PrintedNumber& number, const Arm& arm);

}  // namespace farfield::sweep
