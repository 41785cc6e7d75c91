#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "apps/analysis/timing.h"
#include "engine/base/text.h"

namespace farfield::bench {

/// A table that is printed as it grows, and kept as CSV after each row: what was measured is not
/// lost when a later row fails or takes too long.
class Report {
 public:
  /// Columns are as wide as their heading, the first as wide as `first_width`. Without a path there
  /// is no CSV.
  Report(std::ostream& out, std::vector<std::string> columns, size_t first_width,
         std::string csv_path);

  /// IoError names the CSV that cannot be written.
  void add(const std::vector<std::string>& row);
  /// A line with the most memory that this process has had.
  void print_memory() const;

 private:
  void print(const std::vector<std::string>& row) const;

  std::ostream& out_;
  std::vector<std::string> columns_;
  size_t first_width_;
  std::string csv_path_, csv_;
};

/// Milliseconds with three or four digits.
std::string milliseconds(double time_s);
std::string percent(double share);
/// Three places; nothing for 0, where there is no other to compare with.
std::string ratio(double of_two);
std::string mebibytes(int64_t size_bytes);

}  // namespace farfield::bench
