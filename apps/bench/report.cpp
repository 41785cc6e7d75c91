#include "apps/bench/report.h"

#include <algorithm>

#include "apps/cli/csv.h"
#include "apps/run/machine.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace farfield::bench {

Report::Report(std::ostream& out, std::vector<std::string> columns, size_t first_width,
               std::string csv_path)
    : out_(out),
      columns_(std::move(columns)),
      first_width_(first_width),
      csv_path_(std::move(csv_path)),
      csv_(cli::csv_row(columns_)) {
  print(columns_);
}

void Report::print(const std::vector<std::string>& row) const {
  constexpr size_t kNarrowest = 9;
  for (size_t i = 0; i < row.size(); ++i) {
    const size_t width = i == 0 ? first_width_ : std::max(columns_[i].size(), kNarrowest);
    out_ << (i == 0 ? "" : "  ") << std::setw(static_cast<int>(width))
         << (i == 0 ? std::left : std::right) << row[i];
  }
  out_ << std::endl;  // a row may take minutes: show it at once
}

void Report::add(const std::vector<std::string>& row) {
  print(row);
  if (csv_path_.empty()) return;
  csv_ += cli::csv_row(row);
  write_file_atomic(csv_path_, csv_);
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
