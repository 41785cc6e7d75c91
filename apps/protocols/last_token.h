#pragma once

#include "apps/protocols/protocol.h"

namespace farfield::apps {

struct LastTokenOptions {
  std::vector<int64_t> lengths;  ///< tokens, the predicted one included unless full_context
  int64_t n_segments = 1000;
  uint64_t seed = 0;             ///< of the choice of segments
  bool allow_fewer = false;      ///< take as many segments as there are
  bool full_context = false;     ///< L tokens of context, as in training, instead of L - 1
  int64_t batch_tokens = 16384;  ///< a forward pass takes at most about this many tokens
};

/// Perplexity of a fixed set of tokens, each the last of its segment, given the L - 1 tokens before
/// it: only the context changes from length to length.
///
/// Throws    ConfigError bad_argument, length_too_short; IoError not_enough_data, bad_token
/// Source    Chi, Fan, Rudnicky and Ramadge 2022, "Dissecting Transformer Length Extrapolation via
///           the Lens of Receptive Field Analysis", arXiv:2212.10356, section 3.4
ProtocolResult last_token(const Scorer& model, const TokenStream& text,
                          const LastTokenOptions& options);

/// First tokens of n different segments of `span` tokens in a text of `size`: uniform without
/// replacement over the slots [0, span), [span, 2 span), ... when there are n of them, otherwise
/// over all starts. IoError not_enough_data when there are fewer than n, unless allow_fewer.
std::vector<int64_t> draw_segments(int64_t size, int64_t span, int64_t n, uint64_t seed,
                                   bool allow_fewer);

}  // namespace farfield::apps
