#pragma once

#include <string>

#include "apps/compare/comparison.h"

namespace farfield::compare {

/// What a table says beside its numbers.
enum class Detail {
  plain,    ///< for people: what ± holds, how many tokens were scored, what was compared
  verbose,  ///< the same, then parameters, protocol hash, and which tests decide
  report,   ///< for files that are kept: parameters and hash in the heading
};

/// Encodings by lengths with marks, or for a quantity of heads encodings and heads;
/// beneath perplexities bits per byte, where all seeds know the bytes of their tokens; behind
/// numbers of protocol speed their ratio to the reference; then what the spread over seeds holds,
/// each difference to the reference with its interval and the test that decides its mark, and what
/// was not compared.
std::string comparison_table(const Comparison& of, Detail detail = Detail::plain);
/// In place of the table of a quantity of heads that nobody asked for by name: one line that says
/// what there is and how to see it.
std::string comparison_remark(const Comparison& of);

}  // namespace farfield::compare
