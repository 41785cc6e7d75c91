#include "apps/compare/marks.h"

#include <algorithm>
#include <vector>

#include "apps/eval/options.h"
#include "engine/base/error.h"

namespace farfield::compare {
namespace {

const std::vector<std::string> kMarks = {"rows", "paper", "kerple-paper"};  // in the order of Marks
constexpr Synonym kPapers[] = {{"S", "paper"}, {"K", "kerple-paper"}, {"kerple", "kerple-paper"}};

}  // namespace

std::string to_word(Marks marks) { return kMarks[static_cast<size_t>(marks)]; }

Marks marks_named(const std::string& word) {
  const auto found = std::find(kMarks.begin(), kMarks.end(), word);
  if (found == kMarks.end()) eval::refuse_word("marks", word, kMarks, kPapers);
  return static_cast<Marks>(found - kMarks.begin());
}

std::string sign_of(analysis::Mark mark, Marks marks, bool is_perplexity) {
  if (mark == analysis::Mark::none) return " ";
  const bool is_higher = mark == analysis::Mark::dagger;
  if (marks == Marks::kerple && !is_higher) return " ";
  const bool is_turned = marks == Marks::rows && is_perplexity;
  return is_higher != is_turned ? "†" : "*";
}

std::string word_of(analysis::Mark mark, bool is_perplexity) {
  if (mark == analysis::Mark::none) return "none";
  const bool is_higher = mark == analysis::Mark::dagger;
  if (is_perplexity) return is_higher ? "worse" : "better";
  return is_higher ? "higher" : "lower";
}

std::string legend_of(Marks marks, const std::string& reference, bool is_perplexity) {
  std::string text;
  for (const analysis::Mark mark : {analysis::Mark::star, analysis::Mark::dagger}) {
    const std::string sign = sign_of(mark, marks, is_perplexity);
    if (sign == " ") continue;
    const std::string one = concat(sign, ' ', word_of(mark, is_perplexity), " than ", reference);
    // The dagger comes first.
    text = text.empty() ? one : sign == "*" ? concat(text, ", ", one) : concat(one, ", ", text);
  }
  return text;
}

}  // namespace farfield::compare
