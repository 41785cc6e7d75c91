#pragma once

#include "apps/cli/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct NonOverlappingOptions {
  std::string budget = "same-text";  ///< or same-chunks: the same at every length
  int64_t chunks = 320;              ///< with same-chunks
  bool keep_tail = false;  ///< with same-text: score the remaining tokens as a short last chunk
};

void add_options(cli::Options& options, NonOverlappingOptions& own);
void check(const NonOverlappingOptions& own);

/// Perplexity of a text cut into chunks of L tokens that are read independently: every target
/// counts once, and targets near the start of a chunk have little context. It falls with L even if
/// distant tokens are of no use.
///
/// Items are chunks. Their first_token is the first input in the text as it is read (the documents
/// of the split in the order of --document-order, tokens from 0); the L tokens behind it are
/// predicted.
///
/// Throws    IoError not_enough_data, bad_token
/// Source    Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, section 5.2
ProtocolResult non_overlapping(const Subject& subject, const CommonOptions& common,
                               const NonOverlappingOptions& own);

}  // namespace farfield::eval
