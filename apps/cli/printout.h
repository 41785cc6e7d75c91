#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "apps/cli/options.h"
#include "apps/cli/table.h"

namespace farfield::cli {

/// What a command prints on stdout: tables, and lines around them. For readers all of it is printed
/// at once. With --json it becomes one JSON document, which finish() prints:
///
///     {"command": "inspect data", "remarks": ["a line", ...], "facts": {"hash": "..."},
///      "tables": {"splits": {"columns": [{"name": "split"}, {"name": "tokens", "unit": "tokens"}],
///                            "rows": [{"split": "train", "tokens": 1200}, ...]}}}
///
/// Numbers have all their digits; null stands for a missing one, and "inf", "-inf" and "nan" for
/// what JSON has no number for (json_number.h). A command that fails before finish() prints no
/// document.
class Printout {
 public:
  /// `command` as Options has it.
  Printout(std::ostream& out, std::string command, bool is_json);
  ~Printout();
  Printout(const Printout&) = delete;
  Printout& operator=(const Printout&) = delete;

  bool is_json() const;
  /// For lines around tables, which are "remarks" in JSON.
  std::ostream& text();
  /// A value that the lines have in words, for programs alone.
  void fact(const std::string& name, const Cell& value);
  /// A table for readers and programs.
  void add(const Table& table, size_t gap = 3);
  /// A table for programs, whose lines for readers went to text().
  void add_for_programs(const Table& table);
  /// The document, or nothing for readers. The last call.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The option --json of a command that makes a Printout.
void add_json_option(Options& options, bool& is_json);

}  // namespace farfield::cli
