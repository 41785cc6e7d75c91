#pragma once

#include "apps/eval/result.h"

namespace farfield::eval {

/// Joins the results of several draws of random positions, which must have the same items. Each
/// item's nll becomes its mean over the draws, and so do the mean and, from it, the perplexity; the
/// standard error comes from the items' means. Other quantities and series become means as well,
/// without bands. A length that failed in one draw has failed. A single result is returned as it
/// is.
ProtocolResult mean_over_draws(const std::vector<ProtocolResult>& draws);

}  // namespace farfield::eval
