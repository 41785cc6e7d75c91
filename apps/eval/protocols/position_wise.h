#pragma once

#include "apps/cli/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct PositionWiseOptions {
  int64_t sequences = 256;
  int64_t smoothing = 32;       ///< positions on each side of the mean of the smoothed curve
  int64_t truncated_every = 1;  ///< truncated@W: measure only each N-th position
};

void add_options(cli::Options& options, PositionWiseOptions& own);
void check(const PositionWiseOptions& own);

/// Perplexity at each position of the first `sequences` chunks of L tokens of a text, the rows that
/// non_overlapping() reads too: the perplexity of the result is its perplexity of these chunks.
///
/// Items are sequences; first_token is as non_overlapping() has it.
///
/// Series       "perplexity" by position, counted from 1 (the prediction after one input), and
///              "smoothed perplexity", each with a 95 % band when there are two sequences. The plot
///              shows a curve that is smoothed in log position instead (kDrawnWithin), with its
///              band
/// Quantities   perplexity@<train_len> and perplexity@last, each over 16 positions, as a single
///              position is too noisy; bits_per_byte@ of the same positions, if the bytes of a
///              token are known; and scored_tokens@, of all sequences. late_slope of the mean nll
///              against ln t over the last half, in nats per unit of ln t, with its 95 % interval
///              late_slope_low to late_slope_high; and still_falling, 1 if that interval lies below
///              0. Quantities with too few positions are left out. positions: the number of
///              measured positions, if not all were measured
///
/// Throws    ConfigError bad_argument where truncated-every is more than a length; IoError
///           not_enough_data, bad_token
/// Source    Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, section 5.5, appendix
///           A.6, figures 5 and 7
ProtocolResult position_wise(const Subject& subject, const CommonOptions& common,
                             const PositionWiseOptions& own);

}  // namespace farfield::eval
