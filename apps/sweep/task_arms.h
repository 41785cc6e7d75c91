#pragma once

#include <string>
#include <vector>

#include "apps/sweep/experiment.h"
#include "apps/sweep/plan.h"

namespace farfield::sweep {

// Models that are trained on tasks, and what is measured of them, as several experiments have it.

/// The unit of tasks on strings of symbols: the longest length in training.
inline constexpr TaskUnit kSymbols = {.smoke = 10, .tiny = 10, .published = 40};
/// The measurement of answers().
inline constexpr const char* kAnswers = "P15";

/// An arm on a task, as `train --task`, of a group: "Rotary (copy)".
Arm on_task(Arm arm, const std::string& task, const std::string& group = {});

/// The share of right answers at these lengths.
Measure answers(std::vector<double> lengths, int64_t samples, const std::string& key = kAnswers);
/// At the longest length in training, at half of it, and beyond it up to 2.9 times that.
Measure answers_to_symbols();

/// The table and the figure of a share by length, of arms of these groups.
Output share_by_length(const std::string& quantity, const std::string& caption,
                       const std::vector<std::string>& groups = {});

/// The mean of a quantity over the lengths of a measurement beyond the arm's training lengths; NaN
/// where one is missing. The score of length generalisation is that of "accuracy".
double beyond(const Measured& m, const PlannedArm& arm, const std::string& quantity = "accuracy");
double beyond(const Measured& m, const std::string& arm, const std::string& quantity = "accuracy");
/// Half the 95 % interval of beyond() of a task with one answer in a sample, from the test samples.
double half_width_beyond(const Measured& m, const PlannedArm& arm);

/// An experiment of tasks: no data sets.
Experiment of_tasks(int place, const std::string& id, const std::string& title,
                    const std::string& source, const TaskUnit& unit, std::vector<Arm> arms);

}  // namespace farfield::sweep
