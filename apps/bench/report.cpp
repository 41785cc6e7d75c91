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
  add_json_option(options, is_json);
}

void TableOptions::check() const {
  require<ConfigError>(!is_markdown || !is_json, "bench", "--json: expected it without --markdown");
  if (!csv.empty()) require_writable_file(csv);
}

Report::Report(cli::Printout& page, const std::vector<Column>& columns, size_t first_width,
               const TableOptions& form, const std::string& name)
    : page_(page), table_{name, {}}, first_width_(first_width), form_(form) {
  std::vector<std::string> headings, names;
  for (const Column& column : columns) {
    names.push_back(column.name);
    headings.push_back(markdown_text(column.heading));
    table_.columns.push_back({column.name, column.unit});
  }
  csv_ = cli::csv_row(names);
  if (page_.is_json()) return;
  if (form_.is_markdown)
    page_.text() << markdown_head(headings) << std::flush;
  else
    print(names);
}

void Report::print(const std::vector<std::string>& row) const {
  if (form_.is_markdown) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(markdown_text(cell));
    page_.text() << markdown_row(cells) << std::flush;
    return;
  }
  constexpr size_t kNarrowest = 9;
  for (size_t i = 0; i < row.size(); ++i) {
    const size_t width =
        i == 0 ? first_width_ : std::max(table_.columns[i].name.size(), kNarrowest);
    page_.text() << (i == 0 ? "" : "  ") << std::setw(static_cast<int>(width))
                 << (i == 0 ? std::left : std::right) << row[i];
  }
  page_.text() << std::endl;  // a row may take minutes: show it at once
}

void Report::add(const std::vector<cli::Cell>& row) {
  table_.rows.push_back(row);
  std::vector<std::string> texts;
  for (const cli::Cell& cell : row) texts.push_back(cell.text);
  if (!page_.is_json()) print(texts);
  if (form_.csv.empty()) return;
  csv_ += cli::csv_row(texts);
  write_file_atomic(form_.csv, csv_);
}

void Report::finish(const std::string& source) const {
  page_.add_for_programs(table_);
  page_.fact("source", source);
  if (form_.is_markdown) page_.text() << '\n' << source << '\n';
}

void Report::print_memory() const {
  const cli::Cell most = mebibytes(run::peak_resident_bytes());
  page_.fact("resident MiB", most);
  page_.text() << "\nresident memory at its most: " << most << " MiB\n";
}

cli::Cell milliseconds(double time_s) {
  const double time_ms = time_s * 1e3;
  return cli::fixed_cell(time_ms, time_ms < 10 ? 3 : time_ms < 100 ? 2 : time_ms < 1000 ? 1 : 0);
}

cli::Cell percent(double share) { return {share, fixed(100 * share, 1) + " %"}; }

cli::Cell ratio(double of_two) {
  return of_two > 0 ? cli::fixed_cell(of_two, 3) : cli::Cell::missing("");
}

cli::Cell mebibytes(int64_t size_bytes) {
  const double mib = static_cast<double>(size_bytes) / (1 << 20);
  return cli::fixed_cell(mib, mib < 100 ? 1 : 0);
}

}  // namespace farfield::bench
