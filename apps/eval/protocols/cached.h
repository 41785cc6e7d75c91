#pragma once

#include <optional>

#include "apps/eval/protocols/last_token.h"

namespace farfield::eval {

struct CachedOptions {
  std::optional<int64_t>
      cache;                   ///< tokens kept of each sequence; empty: 4 times the training length
  int64_t check_segments = 1;  ///< read a second time, in one pass, to see that the cache is right
};

void add_options(cli::Options& options, CachedOptions& own);
void check(const CachedOptions& own);

/// Perplexity of last-token's set of tokens, at --lengths L, when each layer keeps the keys and
/// values of the last W tokens alone: the segments are fed piece by piece, in memory that does not
/// grow with L. The results equal a pass over all L tokens under a mask of width W, so up to (W -
/// 1) n_layer + 1 tokens matter, not W.
///
/// An encoding whose keys carry position numbers (an input embedding) has no such cache: the
/// predicted token comes from a fresh pass over the last W tokens. Producing a text this way takes
/// such a pass for each token, O(W^2) work.
///
/// Quantities of each length, of one sequence whose tokens come one after another:
///   cache_bytes         size of the cache; 0 where re-encoded
///   score_evaluations   pairs of a query and a key that it sees, in a head of a layer: the sum
///                       over t = 1 .. n of min(t, W), where n is the number of inputs: L - 1,
///                       since the predicted token is not read, or L with --context L. Where
///                       re-encoded W (W + 1) / 2 for each t > W. Fewer if the encoding has a mask
///   full_ratio          pairs of a full triangle / score_evaluations; may be below 1 where
///                       re-encoded
///   is_reencoded        1 if tokens are re-encoded (a note says why)
///   tokens_per_s        produced one by one when W are kept, on this machine: 1 / the median time
///                       of the last 8 tokens of one sequence (of fewer at shorter lengths), each a
///                       step of the cache, or a pass over W tokens. "timed" among the parameters
///                       is their number
///   cache_error         largest difference of a score after the last min(L, 4 W) tokens, fed piece
///                       by piece and in one pass under the mask, relative to the largest score. A
///                       cell fails with cache_mismatch when this exceeds what rounding explains:
///                       1e-4 in float32, 1e-10 in float64, 0.05 in bfloat16
///
/// Throws    ConfigError bad_argument for a stand-in; IoError not_enough_data, bad_token
/// Source    Chi, Fan, Rudnicky and Ramadge 2022, "Dissecting Transformer Length Extrapolation via
///           the Lens of Receptive Field Analysis", arXiv:2212.10356, appendix B, table 5
ProtocolResult cached(const Subject& subject, const CommonOptions& common,
                      const LastTokenOptions& segments, const CachedOptions& own);

}  // namespace farfield::eval
