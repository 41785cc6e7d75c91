#pragma once

#include <string>

#include "apps/eval/result.h"

namespace farfield::eval {

/// Compares the perplexity at a long length with the perplexity at a short length, on the same
/// predicted tokens.
struct Verdict {
  enum class Kind { unknown, explodes, degrades, flat, improves };

  Kind kind = Kind::unknown;
  double ratio = 0;       ///< perplexity at the long length / perplexity at the short length
  double difference = 0;  ///< mean nll at the long length minus mean nll at the short length
  double error = 0;       ///< standard error of the difference, item by item
};

/// From this factor on perplexity explodes; a smaller change than this share counts as none.
inline constexpr double kExplodes = 2, kNoticed = 0.02;

/// degrades or improves: the nll differs by more than two standard errors and the perplexity by
/// more than kNoticed; explodes: it degrades, and perplexity is at least kExplodes times as high.
/// flat: smaller changes. unknown: a cell failed, or the items do not correspond.
Verdict compare(const LengthResult& at_short, const LengthResult& at_long);

/// "explodes", "degrades", "stays flat", "improves", "cannot be judged"
std::string to_words(Verdict::Kind kind);

}  // namespace farfield::eval
