#pragma once

#include <optional>

#include "apps/cli.h"
#include "apps/protocols/subject.h"

namespace farfield::apps {

struct SpeedOptions {
  int64_t warmup = 50;  ///< steps before those that are timed
  int64_t timed_steps = 200;
  int64_t timed_passes = 20;     ///< forward passes at each length, after two to warm up
  std::optional<int64_t> batch;  ///< sequences of a step; empty: those of the run
  double time_limit = 0;         ///< seconds for all of it; 0: none
};

void add_options(Options& options, SpeedOptions& own);
void check(const SpeedOptions& own);

/// Time and memory of the model's training and inference on this machine, on made-up tokens.
/// Training starts from new weights: the subject's model stays as it is.
///
/// Quantities of the first result, of length 0: train_step_s, the median of the timed steps
/// (forward, backward, clipping and update; the device waited for before each look at the clock),
/// train_step_s_p10 and _p90 where there are at least 20, train_tokens_per_s, train_peak_mib, the
/// most that the allocator of the device gave from step 1 to the end of step 10 (weights, moments
/// and gradients included), and on the CPU train_resident_mib, the most resident memory in these
/// steps less that before the model was built.
/// Quantities of each length: infer_tokens_per_s, of forward passes that score every token of
/// common.batch_tokens in rows of this length, by their median, and infer_peak_mib, weights
/// included.
///
/// A cell is TIMEOUT when the time limit came before its end (its message tells what was timed
/// until then), OOM when memory did not suffice. Parameters name the machine: numbers of one are
/// not those of another.
///
/// Throws    ConfigError bad_argument, length_too_short
/// Source    Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, tables 4 and 7;
///           inference: Press, Smith and Lewis 2022, arXiv:2108.12409, figure 2
ProtocolResult speed(const Subject& subject, const CommonOptions& common, const SpeedOptions& own);

/// "x percent faster", as the papers count: relative to the other, (other - own) / other.
inline double percent_faster(double own_s, double other_s) {
  return 100 * (other_s - own_s) / other_s;
}

}  // namespace farfield::apps
