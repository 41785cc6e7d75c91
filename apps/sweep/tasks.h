#pragma once

#include <string>
#include <vector>

#include "apps/run/resolved_config.h"
#include "apps/sweep/plan.h"
#include "apps/sweep/results.h"

namespace farfield::sweep {

// Experiments whose models are trained on tasks, not on text. Their plan has one data set,
// tasks_dataset(), and each cell has the task of its arm.

/// What stands for a data set in a plan.
const PlannedDataset& tasks_dataset();

/// ConfigError, naming the experiment: tasks of some arms alone, text measured of a model that has
/// a task, or answers to a task of a model that has none.
void check_tasks(const Experiment& experiment);

/// The task of an arm, with its lengths, in place of data.
void set_task(run::RunConfig& config, const Arm& arm, Scale scale, int64_t unit);

/// "copy, reverse_string": the tasks of these arms, without options.
std::string task_names(const std::vector<const PlannedArm*>& arms);

/// For a report: each training on a task, with the models' size, and what was measured.
std::vector<std::string> task_facts(const Plan& plan, const Results& results);

}  // namespace farfield::sweep
