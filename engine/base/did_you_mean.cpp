#include "engine/base/did_you_mean.h"

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"

namespace farfield {
namespace {

// As words are compared: "Train_Len" is "train-len".
std::string folded(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c;
  return text;
}

// Levenshtein distance, one row at a time.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

// "" when there is none.
std::string meaning_of(const std::string& word, const std::vector<std::string>& known,
                       std::span<const Synonym> synonyms) {
  for (const std::string& name : known)
    if (folded(name) == word) return name;
  for (const auto& [said, meant] : synonyms)
    if (folded(said) == word && std::find(known.begin(), known.end(), meant) != known.end())
      return std::string(meant);
  return "";
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t least = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& name : known) {
    const size_t distance = edit_distance(word, folded(name));
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  return did_you_mean(word, known, {});
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         std::span<const Synonym> synonyms) {
  const std::string asked = folded(word);
  std::string meant = meaning_of(asked, known, synonyms);
  if (meant.empty()) meant = nearest(asked, known);
  return meant.empty() ? "" : concat("; did you mean '", meant, "'?");
}

}  // namespace farfield
