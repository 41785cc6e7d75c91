#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "apps/analysis/timing.h"
#include "engine/base/text.h"

namespace farfield::bench {

/// A table that is printed as it grows and can be kept as CSV.
class Report {
 public:
  /// Columns are as wide as their heading, the first as wide as `first_width`.
  Report(std::ostream& out, std::vector<std::string> columns, size_t first_width);

  void add(const std::vector<std::string>& row);
  /// Writes what has been added; nothing for an empty path. IoError names the path.
  void write_csv(const std::string& path) const;
  /// The same after a line with the most memory that this process has had.
  void close(const std::string& csv_path) const;

 private:
  void print(const std::vector<std::string>& row) const;

  std::ostream& out_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
  size_t first_width_;
};

/// Milliseconds with three or four digits.
std::string milliseconds(double time_s);
std::string percent(double share);
/// Three places; nothing for 0, where there is no other to compare with.
std::string ratio(double of_two);
std::string mebibytes(int64_t size_bytes);

}  // namespace farfield::bench
