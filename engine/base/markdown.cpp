#include "engine/base/markdown.h"

#include <algorithm>
#include <string_view>

namespace farfield {

std::string markdown_text(const std::string& text) {
  constexpr std::string_view kMarkup = "\\`*<|";
  std::string safe;
  for (const char c : text) {
    if (kMarkup.find(c) != kMarkup.npos) safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

std::string markdown_code(const std::string& text) {
  size_t longest = 0, n = 0;
  for (const char c : text) longest = std::max(longest, n = c == '`' ? n + 1 : 0);
  const std::string fence(longest + 1, '`'), room(longest > 0 ? 1 : 0, ' ');
  return fence + room + text + room + fence;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) {
    row += ' ';
    char before = ' ';
    for (const char c : cell) {
      if (c == '|' && before != '\\') row += '\\';
      row += c == '\n' ? ' ' : c;
      before = c;
    }
    row += " |";
  }
  return row + '\n';
}

std::string markdown_head(const std::vector<std::string>& columns) {
  std::string line = "|";
  for (size_t i = 0; i < columns.size(); ++i) line += "---|";
  return markdown_row(columns) + line + '\n';
}

}  // namespace farfield
