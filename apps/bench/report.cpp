#include "apps/bench/report.h"

#include <algorithm>

#include "apps/cli/csv.h"
#include "apps/run/machine.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/markdown.h"

namespace farfield::bench {

void TableOptions::add_to(cli::Options& options) {
  options.add("csv", csv, "FILE", "write the table to a CSV file too")
      .add("markdown", is_markdown,
           "print the table in Markdown and a line with machine, date, commit and command below "
           "it, as apps/BENCHMARKS.md has them");
}

void TableOptions::check() const {
  if (!csv.empty()) require_writable_file(csv);
}

Report::Report(std::ostream& out, const std::vector<Column>& columns, size_t first_width,
               const TableOptions& table)
    : out_(out), first_width_(first_width), table_(table) {
  std::vector<std::string> headings;
  for (const Column& column : columns) {
    names_.push_back(column.name);
    headings.push_back(markdown_text(column.heading));
  }
  csv_ = cli::csv_row(names_);
  if (table_.is_markdown)
    out_ << markdown_head(headings) << std::flush;
  else
    print(names_);
}

void Report::print(const std::vector<std::string>& row) const {
  if (table_.is_markdown) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(markdown_text(cell));
    out_ << markdown_row(cells) << std::flush;
    return;
  }
  constexpr size_t kNarrowest = 9;
  for (size_t i = 0; i < row.size(); ++i) {
    const size_t width = i == 0 ? first_width_ : std::max(names_[i].size(), kNarrowest);
    out_ << (i == 0 ? "" : "  ") << std::setw(static_cast<int>(width))
         << (i == 0 ? std::left : std::right) << row[i];
  }
  out_ << std::endl;  // a row may take minutes: show it at once
}

void Report::add(const std::vector<std::string>& row) {
  print(row);
  if (table_.csv.empty()) return;
  csv_ += cli::csv_row(row);
  write_file_atomic(table_.csv, csv_);
}

void Report::finish(const std::string& source) const {
  if (table_.is_markdown) out_ << '\n' << source << '\n';
}

void Report::print_memory() const {
  out_ << "\nresident memory at its most: " << mebibytes(run::peak_resident_bytes()) << " MiB\n";
}

std::string milliseconds(double time_s) {
  const double time_ms = time_s * 1e3;
  return fixed(time_ms, time_ms < 10 ? 3 : time_ms < 100 ? 2 : time_ms < 1000 ? 1 : 0);
}

std::string percent(double share) { return fixed(100 * share, 1) + " %"; }

std::string ratio(double of_two) { return of_two > 0 ? fixed(of_two, 3) : ""; }

std::string mebibytes(int64_t size_bytes) {
  const double mib = static_cast<double>(size_bytes) / (1 << 20);
  return fixed(mib, mib < 100 ? 1 : 0);
}

}  // namespace farfield::bench
