#pragma once

#include "apps/protocols/protocol.h"

namespace farfield::apps {

struct NonOverlappingOptions {
  enum class Budget { same_text, same_chunks };

  std::vector<int64_t> lengths;  ///< inputs of a chunk, and its targets
  Budget budget = Budget::same_text;
  int64_t n_chunks = 320;        ///< with same_chunks
  int64_t max_tokens = 0;        ///< with same_text: read only so many tokens; 0: all
  bool keep_tail = false;        ///< with same_text: score what is left as a short last chunk
  bool allow_fewer = false;      ///< with same_chunks: take as many as there are
  int64_t batch_tokens = 16384;  ///< a forward pass takes at most about this many tokens
};

/// Perplexity of a text cut into chunks of L tokens that know nothing of each other: every target
/// counts once, those near the start of a chunk with little context. It falls with L even when
/// distant tokens are of no use.
///
/// Throws    ConfigError bad_argument, length_too_short; IoError not_enough_data, bad_token
/// Source    Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, section 5.2
ProtocolResult non_overlapping(const Scorer& model, const TokenStream& text,
                               const NonOverlappingOptions& options);

}  // namespace farfield::apps
