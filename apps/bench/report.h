#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "apps/analysis/timing.h"
#include "apps/cli/options.h"
#include "engine/base/text.h"

namespace farfield::bench {

/// The form of the table of every command of `bench`.
struct TableOptions {
  std::string csv = {};      ///< a file that gets the table too; empty: none
  bool is_markdown = false;  ///< for apps/BENCHMARKS.md, not for a terminal

  void add_to(cli::Options& options);
  /// IoError unless the CSV can be written.
  void check() const;
  /// The line before and after text outside of the table, so that Markdown leaves the text as it
  /// is.
  const char* fence() const { return is_markdown ? "```\n" : ""; }
};

/// A column of a table: its name, and its heading in Markdown, which includes the unit; for the
/// plain table --help gives the unit.
struct Column {
  Column(const char* its_name) : Column(its_name, its_name) {}
  Column(const char* its_name, const char* in_markdown) : name(its_name), heading(in_markdown) {}

  std::string name, heading;
};

/// A table that is printed as it grows, and written as CSV after each row: finished rows survive
/// when a later row fails or takes too long.
class Report {
 public:
  /// Columns are as wide as their heading, the first as wide as `first_width`.
  Report(std::ostream& out, const std::vector<Column>& columns, size_t first_width,
         const TableOptions& table);

  /// IoError names the CSV that cannot be written.
  void add(const std::vector<std::string>& row);
  /// Behind the last row; in Markdown, `source` is the line below the table (source_line()).
  void finish(const std::string& source) const;
  /// A line with the peak memory of this process.
  void print_memory() const;

 private:
  void print(const std::vector<std::string>& row) const;

  std::ostream& out_;
  std::vector<std::string> names_;
  size_t first_width_;
  TableOptions table_;
  std::string csv_;
};

/// Milliseconds with three or four digits.
std::string milliseconds(double time_s);
std::string percent(double share);
/// Three decimal places; empty for 0, which means that there is nothing to compare with.
std::string ratio(double of_two);
std::string mebibytes(int64_t size_bytes);

}  // namespace farfield::bench
