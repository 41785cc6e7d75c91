#include "apps/prepare/splits_table.h"

#include <iomanip>
#include <ostream>
#include <string>
#include <vector>

namespace farfield::prepare {
namespace {

cli::Cell cell_of(int64_t count) {
  return count == data::kUnknown ? cli::Cell::missing("unknown") : cli::Cell(count);
}

// In columns of one width, whatever the numbers are.
void print_row(const std::vector<std::string>& row, std::ostream& out) {
  out << std::left << std::setw(8) << row[0] << std::right << std::setw(12) << row[1]
      << std::setw(14) << row[2] << std::setw(14) << row[3] << '\n';
}

}  // namespace

void print_splits(const std::array<data::TokenCounts, 3>& counts, cli::Printout& page) {
  cli::Table table = {"splits", {"split", "documents", "tokens", "bytes"}};
  for (size_t i = 0; i < data::kSplits.size(); ++i)
    table.rows.push_back({std::string(data::kSplits[i]), cell_of(counts[i].documents),
                          cell_of(counts[i].tokens), cell_of(counts[i].bytes)});
  page.add_for_programs(table);
  if (page.is_json()) return;
  print_row({"split", "documents", "tokens", "bytes"}, page.text());
  for (const std::vector<cli::Cell>& row : table.rows)
    print_row({row[0].text, row[1].text, row[2].text, row[3].text}, page.text());
}

void print_splits(const data::Manifest& manifest, cli::Printout& page) {
  std::array<data::TokenCounts, 3> counts;
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = manifest.splits[i].counts;
  print_splits(counts, page);
}

}  // namespace farfield::prepare
