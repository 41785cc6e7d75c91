#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farfield::eval {

/// A trained model with a restricted context, to measure the value of the rest of the context. Chi,
/// Fan, Ramadge and Rudnicky 2022, "KERPLE", arXiv:2205.09921, section 5.5, shows one of the two
/// without naming it; masked fits its words best.
struct Baseline {
  enum class Kind {
    none,       ///< the model as it is
    masked,     ///< in every layer a query sees the last `window` tokens alone; its bias stays
    truncated,  ///< each token is predicted by a pass over the last `window` inputs alone
  };
  Kind kind = Kind::none;
  int64_t window = 0;  ///< tokens

  /// For tables and cells: "masked@512", or "" for the model as it is.
  std::string label() const;
};

/// "none", "masked@W" or "truncated@W"; ConfigError [eval] bad_argument for anything else and W
/// < 1.
Baseline parse_baseline(const std::string& name);

/// A remark about a window that hides nothing at some of these lengths; "" if it always hides
/// tokens.
std::string warning_of(const Baseline& baseline, const std::vector<int64_t>& lengths);

}  // namespace farfield::eval
