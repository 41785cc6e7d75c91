#include "apps/eval/verdict.h"

#include <cmath>
#include <vector>

#include "apps/analysis/spread.h"

namespace farfield::eval {

Verdict compare(const LengthResult& at_short, const LengthResult& at_long) {
  Verdict verdict;
  const size_t n = at_short.items.size();
  if (n < 2 || n != at_long.items.size()) return verdict;
  verdict.difference = at_long.mean_nll - at_short.mean_nll;
  std::vector<double> differences;
  for (size_t i = 0; i < n; ++i) differences.push_back(at_long.items[i] - at_short.items[i]);
  verdict.error = analysis::standard_error_of(differences);
  verdict.ratio = std::exp(verdict.difference);
  const bool is_clear =
      std::abs(verdict.difference) > 2 * verdict.error && std::abs(verdict.ratio - 1) > kNoticed;
  if (!is_clear) {
    verdict.kind = Verdict::Kind::flat;
  } else if (verdict.ratio >= kExplodes) {
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

}  // namespace farfield::eval
