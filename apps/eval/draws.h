#pragma once

#include "apps/eval/result.h"

namespace farfield::eval {

/// One result out of those of several draws of random positions, which must be of the same items:
/// each item's nll becomes its mean over the draws, and so do the mean and, from it, the
/// perplexity; the standard error is that of the items' means. Other quantities and series become
/// means as well, without bands. A length that failed in one draw has
/// failed. For a single result, that result.
ProtocolResult mean_over_draws(const std::vector<ProtocolResult>& draws);

}  // namespace farfield::eval
