#pragma once

#include "apps/cli.h"
#include "apps/protocols/subject.h"

namespace farfield::apps {

struct LastTokenOptions {
  int64_t segments = 1000;
  std::string segment_set = "per-seed";  ///< or common: whether runs with other seeds draw others
  std::string context = "L-1";           ///< or L: tokens before the predicted one
};

void add_options(Options& options, LastTokenOptions& own);
void check(const LastTokenOptions& own);

/// Perplexity of a fixed set of tokens, each the last of its segment, given the L - 1 tokens before
/// it: only the context changes from length to length.
///
/// Throws    ConfigError bad_argument, length_too_short; IoError not_enough_data, bad_token
/// Source    Chi, Fan, Rudnicky and Ramadge 2022, "Dissecting Transformer Length Extrapolation via
///           the Lens of Receptive Field Analysis", arXiv:2212.10356, section 3.4
ProtocolResult last_token(const Subject& subject, const CommonOptions& common,
                          const LastTokenOptions& own);

/// First tokens of n different segments of `span` tokens in a text of `size`: uniform without
/// replacement over the slots [0, span), [span, 2 span), ... when there are n of them, otherwise
/// over all starting places. `protocol` is used in messages.
/// Throws    ConfigError bad_argument; IoError not_enough_data, unless allow_fewer and there is one
std::vector<int64_t> draw_segments(std::string_view protocol, int64_t size, int64_t span, int64_t n,
                                   uint64_t seed, bool allow_fewer);

}  // namespace farfield::apps
