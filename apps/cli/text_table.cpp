#include "apps/cli/text_table.h"

#include <algorithm>

#include "apps/cli/printable.h"

namespace farfield::cli {
namespace {

// Columns on a terminal: bytes that do not continue a UTF-8 sequence.
size_t width_of(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string text_table(const std::vector<std::vector<std::string>>& cells, size_t gap) {
  if (cells.empty()) return "";
  std::vector<std::vector<std::string>> rows = cells;
  for (auto& row : rows)
    for (std::string& cell : row) cell = printable(cell);
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c) widths.at(c) = std::max(widths[c], width_of(row[c]));
  std::string text;
  for (const auto& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string room(widths[c] - width_of(row[c]), ' ');
      if (c > 0) text.append(gap, ' ').append(room);
      text += row[c];
      if (c == 0 && row.size() > 1) text += room;
    }
    text += '\n';
  }
  return text;
}

}  // namespace farfield::cli
