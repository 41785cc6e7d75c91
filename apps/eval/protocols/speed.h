#pragma once

#include <optional>

#include "apps/cli/options.h"
#include "apps/eval/step_times.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct SpeedOptions {
  int64_t warmup = 50;  ///< steps, and passes at each length, before the timed ones
  int64_t timed_steps = 200;
  int64_t timed_passes = 200;           ///< forward passes at each length
  std::optional<int64_t> batch;         ///< sequences of a step; empty: as many as in the run
  double time_limit = 0;                ///< seconds for the whole protocol; 0: no limit
  std::optional<StepClock> clock = {};  ///< clock for the steps; empty: machine_clock()
};

void add_options(cli::Options& options, SpeedOptions& own);
void check(const SpeedOptions& own);

/// Time and memory of the model's training and inference on this machine, on made-up tokens.
/// Training starts from new weights: the subject's model stays as it is.
///
/// Steps and passes are timed alike: warm-up first, then each one (or each block of as many as the
/// clock's resolution asks for, see time_steps()), the device waited for before each look at the
/// clock. A time is the median, with percentiles _p10 and _p90 where there are at least 20.
///
/// Quantities of the first result, of length 0: train_step_s (forward, backward, clipping and
/// update) and its percentiles, train_tokens_per_s, train_peak_mib, the most that the allocator of
/// the device gave from step 1 to the end of step 10 (weights, moments and gradients included), and
/// on the CPU train_resident_mib, the most resident memory in these steps minus the resident memory
/// before the model was built.
/// Quantities of each length, of forward passes that score every token of common.batch_tokens in
/// rows of this length: infer_tokens_per_s by the median, infer_pass_s and its percentiles,
/// infer_peak_mib, weights included, and on the CPU infer_resident_mib, the most resident memory in
/// these passes minus the resident memory before them, plus the weights, which were in memory
/// already.
///
/// A cell is TIMEOUT when the time limit came before its end: it keeps the median of the finished
/// steps as train_step_s_partial or infer_pass_s_partial, and their number as timed_steps or
/// timed_passes. A cell is OOM when memory did not suffice; the training cell keeps the length as
/// oom_length. Parameters name the machine, since numbers of different machines are not comparable.
///
/// Throws    ConfigError bad_argument for a stand-in
/// Source    Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, tables 4 and 7;
///           inference: Press, Smith and Lewis 2022, arXiv:2108.12409, figure 2
ProtocolResult speed(const Subject& subject, const CommonOptions& common, const SpeedOptions& own);

}  // namespace farfield::eval
