#include "apps/cli/table.h"

#include "apps/cli/csv.h"
#include "apps/cli/text_table.h"
#include "engine/base/text.h"

namespace farfield::cli {
namespace {

// The names of the columns, and the text of each row.
std::vector<std::vector<std::string>> texts_of(const Table& table) {
  std::vector<std::vector<std::string>> rows(1);
  for (const Table::Column& column : table.columns) rows.front().push_back(column.name);
  for (const std::vector<Cell>& row : table.rows) {
    rows.emplace_back();
    for (const Cell& cell : row) rows.back().push_back(cell.text);
  }
  return rows;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Cell& cell) { return out << cell.text; }

Cell fixed_cell(double value, int n_digits) { return {value, fixed(value, n_digits)}; }

std::string to_text(const Table& table, size_t gap) { return text_table(texts_of(table), gap); }

std::string csv_of(const Table& table) {
  std::string text;
  for (const std::vector<std::string>& row : texts_of(table)) text += csv_row(row);
  return text;
}

}  // namespace farfield::cli
