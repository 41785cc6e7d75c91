#pragma once

#include <optional>

#include "apps/cli/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct SlidingOptions {
  std::optional<int64_t> stride = {};  ///< tokens from a window to the next; empty: L / 4
};

void add_options(cli::Options& options, SlidingOptions& own);
void check(const SlidingOptions& own);

/// Perplexity of a text by windows of L tokens, each `stride` after the one before: the first
/// scores all its targets, a later one its last `stride` alone, so every target of the text is
/// scored once, with at least L - stride + 1 tokens of context from the second window on. The last
/// window is moved left to end with the text, and scores the remaining targets. With stride = L the
/// result equals non_overlapping() with its tail. The items are stretches of L targets, as in
/// non_overlapping(); their first_token is the token before the first target, in the text as it is
/// read.
///
/// Throws    ConfigError bad_stride; IoError not_enough_data, bad_token
/// Source    Press, Smith and Lewis 2022, "Train Short, Test Long", arXiv:2108.12409, appendix B
ProtocolResult sliding(const Subject& subject, const CommonOptions& common,
                       const SlidingOptions& own);

}  // namespace farfield::eval
