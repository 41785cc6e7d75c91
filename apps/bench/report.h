#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "apps/analysis/timing.h"
#include "apps/cli/options.h"
#include "apps/cli/printout.h"
#include "engine/base/text.h"

namespace farfield::bench {

/// The form of the table of every command of `bench`.
struct TableOptions {
  std::string csv = {};      ///< a file that gets the table too; empty: none
  bool is_markdown = false;  ///< for apps/BENCHMARKS.md, not for a terminal
  bool is_json = false;      ///< for programs

  void add_to(cli::Options& options);
  /// ConfigError for two forms, IoError unless the CSV can be written.
  void check() const;
  /// The line before and after text outside of the table, so that Markdown leaves the text as it
  /// is.
  const char* fence() const { return is_markdown ? "```\n" : ""; }
};

/// A column of a table: its name, its heading in Markdown, which includes the unit, and the unit,
/// empty where the name says it; for the plain table --help gives the unit.
struct Column {
  Column(const char* its_name) : Column(its_name, its_name) {}
  Column(const char* its_name, const char* in_markdown, const char* its_unit = "")
      : name(its_name), heading(in_markdown), unit(its_unit) {}

  std::string name, heading, unit;
};

/// A table that is printed as it grows, and written as CSV after each row: finished rows survive
/// when a later row fails or takes too long. JSON has them at the end.
class Report {
 public:
  /// Columns are as wide as their heading, the first as wide as `first_width`.
  Report(cli::Printout& page, const std::vector<Column>& columns, size_t first_width,
         const TableOptions& form, const std::string& name = "measurements");

  /// IoError names the CSV that cannot be written.
  void add(const std::vector<cli::Cell>& row);
  /// Behind the last row; `source` (source_line()) is the line below a table in Markdown, and a
  /// fact in JSON.
  void finish(const std::string& source) const;
  /// A line with the peak memory of this process.
  void print_memory() const;

 private:
  void print(const std::vector<std::string>& row) const;

  cli::Printout& page_;
  cli::Table table_;
  size_t first_width_;
  TableOptions form_;
  std::string csv_;
};

/// Milliseconds with three or four digits.
cli::Cell milliseconds(double time_s);
/// A share of 1, shown in percent.
cli::Cell percent(double share);
/// Three decimal places; empty for 0, which means that there is nothing to compare with.
cli::Cell ratio(double of_two);
cli::Cell mebibytes(int64_t size_bytes);

}  // namespace farfield::bench
