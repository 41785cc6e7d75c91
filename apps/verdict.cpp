#include "apps/verdict.h"

#include <cmath>

namespace farfield::apps {

Verdict compare(const LengthResult& at_short, const LengthResult& at_long) {
  Verdict verdict;
  const size_t n = at_short.items.size();
  if (n < 2 || n != at_long.items.size()) return verdict;
  double squares = 0;
  verdict.difference = at_long.mean_nll - at_short.mean_nll;
  for (size_t i = 0; i < n; ++i) {
    const double d = at_long.items[i] - at_short.items[i] - verdict.difference;
    squares += d * d;
  }
  const auto count = static_cast<double>(n);
  verdict.error = std::sqrt(squares / (count - 1) / count);
  verdict.ratio = std::exp(verdict.difference);
  const bool is_clear =
      std::abs(verdict.difference) > 2 * verdict.error && std::abs(verdict.ratio - 1) > 0.02;
  if (!is_clear) {
    verdict.kind = Verdict::Kind::flat;
  } else if (verdict.ratio >= 2) {
    verdict.kind = Verdict::Kind::explodes;
  } else {
    verdict.kind = verdict.ratio > 1 ? Verdict::Kind::degrades : Verdict::Kind::improves;
  }
  return verdict;
}

std::string to_words(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::explodes:
      return "explodes";
    case Verdict::Kind::degrades:
      return "degrades";
    case Verdict::Kind::flat:
      return "stays flat";
    case Verdict::Kind::improves:
      return "improves";
    case Verdict::Kind::unknown:
      break;
  }
  return "cannot be judged";
}

}  // namespace farfield::apps
