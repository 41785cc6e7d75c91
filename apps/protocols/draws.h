#pragma once

#include "apps/protocols/protocol.h"

namespace farfield::apps {

/// One result out of those of several draws of random positions, which must be of the same items:
/// each item's nll becomes its mean over the draws, and so do the mean and, from it, the
/// perplexity; the standard error is that of the items' means. A length that failed in one draw has
/// failed. For a single result, that result.
ProtocolResult mean_over_draws(const std::vector<ProtocolResult>& draws);

}  // namespace farfield::apps
