#pragma once

#include <vector>

#include "apps/cli/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct LastTokenOptions {
  int64_t segments = 1000;
  std::string segment_set = "per-seed";  ///< or common: the same segments for all seeds
  std::string context = "L-1";           ///< or L: tokens before the predicted one
};

void add_options(cli::Options& options, LastTokenOptions& own);
void check(const LastTokenOptions& own);

/// Perplexity of a fixed set of tokens, each the last of its segment, given the L - 1 tokens before
/// it: only the context changes from length to length.
///
/// Items are segments. Their first_token is the segment's first token in the text as it is read
/// (the documents of the split in the order of --document-order, tokens from 0). The segment's last
/// token is predicted, the same token at every length.
///
/// Throws    IoError not_enough_data, bad_token
/// Source    Chi, Fan, Rudnicky and Ramadge 2022, "Dissecting Transformer Length Extrapolation via
///           the Lens of Receptive Field Analysis", arXiv:2212.10356, section 3.4
ProtocolResult last_token(const Subject& subject, const CommonOptions& common,
                          const LastTokenOptions& own);

/// First tokens of n >= 1 different segments of `span` tokens in a text: uniform without
/// replacement over the slots [0, span), [span, 2 span), ... when there are n of them, otherwise
/// over all starting places. If no segment may leave a document, slots count from the beginning of
/// each document. `protocol` is used in messages.
/// Throws    IoError not_enough_data, unless allow_fewer and the text has one
std::vector<int64_t> draw_segments(std::string_view protocol, const TokenStream& text, int64_t span,
                                   int64_t n, uint64_t seed, bool allow_fewer);

/// The segments whose last tokens are predicted, with their text.
struct Segments {
  std::vector<int64_t> starts;  ///< first token of each
  int64_t span = 0;             ///< tokens of a segment
  std::vector<int32_t> tokens;  ///< [N, span]
  TokenSet predicted;           ///< the last token of each
  std::string parameters;       ///< the parameters that decide the segments

  /// Inputs at length L: L - 1, or L.
  int64_t n_inputs(int64_t length) const { return length - n_short; }
  /// The n tokens before the predicted one of segments first .. first + batch - 1, [batch, n].
  Scorer::Ids ids(int64_t first, int64_t batch, int64_t n) const;
  /// The predicted tokens, [batch].
  Scorer::Ids targets(int64_t first, int64_t batch) const;
  /// "segment 3 (tokens 96 to 127)"
  std::string name(size_t item) const;

  int64_t n_short = 1;
};

/// Draws and reads them for the longest of common.lengths. Throws as last_token() does.
Segments read_segments(std::string_view protocol, const Subject& subject,
                       const CommonOptions& common, const LastTokenOptions& own);

}  // namespace farfield::eval
