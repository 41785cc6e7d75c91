#pragma once

#include "apps/cli/options.h"
#include "apps/eval/subject.h"

namespace farfield::eval {

struct KernelDefinitenessOptions {
  int64_t points = 64;  ///< the integers 0 .. points - 1
};

void add_options(cli::Options& options, KernelDefinitenessOptions& own);
void check(const KernelDefinitenessOptions& own);

/// Whether the bias of each head of the model's encoding is conditionally positive definite on a
/// row of tokens, and the constant that would make it positive definite there. Reads no text. Where
/// a mask hides keys from distance w on, tokens 0 to w - 1 make the matrix; `n` says how many did.
///
/// Throws    ConfigError bad_argument for a stand-in, and where a mask leaves fewer than 2 tokens
/// Source    Chi, Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, section 3, appendices
///           A.1 and A.2
ProtocolResult kernel_definiteness(const Subject& subject, const KernelDefinitenessOptions& own);

}  // namespace farfield::eval
