#include "data/tokenizers/blanks.h"

#include <algorithm>

namespace farfield::data {

std::string mark_blanks(std::string_view text, bool begins_with_one) {
  std::string marked;
  const auto n_blanks = static_cast<size_t>(std::count(text.begin(), text.end(), ' '));
  marked.reserve(text.size() + 2 * n_blanks + kMarkedBlank.size());
  if (begins_with_one) marked += kMarkedBlank;
  for (const char c : text) {
    if (c == ' ')
      marked += kMarkedBlank;
    else
      marked += c;
  }
  return marked;
}

std::string unmark_blanks(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const size_t mark = std::min(text.find(kMarkedBlank, at), text.size());
    plain.append(text, at, mark - at);
    if (mark < text.size()) plain += ' ';
    at = mark + kMarkedBlank.size();
  }
  return plain;
}

}  // namespace farfield::data
