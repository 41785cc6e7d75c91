#pragma once

#include <string>
#include <vector>

#include "apps/sweep/experiment.h"

namespace farfield::sweep {

/// The names of `sweep run --only` as its user meant them. The option's list is cut at commas,
/// which labels may have ("positions / 4, 30 steps"): pieces that together are the label of a model
/// of these experiments are put together again.
std::vector<std::string> whole_names(const std::vector<std::string>& pieces,
                                     const std::vector<const Experiment*>& experiments);

/// The labels of the models of an experiment that a given run needs no training for
/// (`sweep run --base RUN --test-time`).
std::vector<std::string> test_time_labels(const Experiment& experiment);

}  // namespace farfield::sweep
