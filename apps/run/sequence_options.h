#pragma once

#include <string>
#include <vector>

#include "apps/run/config.h"
#include "apps/run/resolved_config.h"

namespace farfield::run {

// The options on the sequences that a run is trained on: --task, --task-lengths, --lengths, --mask
// and --masked.

/// "0.5:2048", a share of the steps and their length. ConfigError names the option.
std::vector<StepLength> parse_lengths(const std::vector<std::string>& texts);

/// A task decides the length of its sequences: the longest is the training length. Sets `task` and
/// `task_lengths`, and in the request the canonical task and the training length. ConfigError for
/// options that a task makes void.
void fill_task(RunConfig& from, ResolvedConfig& c, bool is_train_len_given);

/// Sets ModelConfig::sees_later and, of an encoder on text, the share of masked tokens, after task
/// and cutoffs. ConfigError for a share without such an encoder or out of range, and for cutoffs.
void fill_mask(RunConfig& from, ResolvedConfig& c);

}  // namespace farfield::run
