#pragma once

#include "apps/eval/scorer.h"

namespace farfield::eval {

/// A scorer that predicts each target from a fresh pass over the last `window` inputs before it
/// alone, numbered from 0. Unlike a mask it cuts information that deeper layers carry over, so it
/// reaches back `window` tokens, whatever the depth. Targets with fewer inputs take one pass over
/// the beginning of the row, of `window` tokens at most, all together: the same for every encoding
/// that does not look at the length of the sequence. A pass has about batch_tokens tokens at most;
/// memory grows with neither the row nor their number.
///
/// The cost is `window` tokens for each target behind the first `window`.
Scorer truncated(const Scorer& model, int64_t window, int64_t batch_tokens);

}  // namespace farfield::eval
