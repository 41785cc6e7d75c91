#pragma once

#include <string>

#include "apps/eval/result.h"

namespace farfield::eval {

/// How perplexity at a long length compares with that at a short one, from the same predicted
/// tokens.
struct Verdict {
  enum class Kind { unknown, explodes, degrades, flat, improves };

  Kind kind = Kind::unknown;
  double ratio = 0;       ///< perplexity at the long length over that at the short one
  double difference = 0;  ///< mean nll at the long length minus that at the short one
  double error = 0;       ///< standard error of the difference, item by item
};

/// From this factor on perplexity explodes; a smaller share than this is no change at all.
inline constexpr double kExplodes = 2, kNoticed = 0.02;

/// degrades or improves: the nll differs by more than two standard errors and the perplexity by
/// more than kNoticed; explodes: that, and perplexity is kExplodes times as high or more. flat:
/// anything less. unknown: a cell failed, or the items do not correspond.
Verdict compare(const LengthResult& at_short, const LengthResult& at_long);

/// "explodes", "degrades", "stays flat", "improves", "cannot be judged"
std::string to_words(Verdict::Kind kind);

}  // namespace farfield::eval
