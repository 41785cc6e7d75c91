#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/cli/options.h"
#include "apps/eval/result.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct TaskOptions {
  std::optional<int64_t> samples;  ///< of each length; empty: the task's own number
  uint64_t seed = 0;               ///< of the test samples, the same for every model
  std::string task = {};           ///< tested instead of the task that a run was trained on
};

/// Declares the options of the protocol.
void add_options(cli::Options& options, TaskOptions& own);
/// Refuses numbers out of range, and a task that there is not: ConfigError bad_argument.
void check(const TaskOptions& own);

/// How well a model that was trained on a task answers at each length: the share of answers and of
/// whole samples that are right (the most likely of the task's tokens, the smallest id of equal
/// ones), the
/// cross-entropy in bits per answer, and by the place of what is asked for, if the task has one, a
/// series. Lengths are the task's: the longest of training and its test lengths, unless --lengths
/// gives others.
/// Throws    ConfigError bad_argument for a model that was not trained on a task, and for another
///           task whose tokens are not the first of those that the model knows
ProtocolResult measure_task(const Subject& subject, const CommonOptions& common,
                            const TaskOptions& own);

}  // namespace farfield::eval
