#include "apps/bench/report.h"

#include <algorithm>

#include "apps/cli/csv.h"
#include "apps/run/machine.h"
#include "engine/base/error.h"
#include "engine/base/file.h"

namespace farfield::bench {

Report::Report(std::ostream& out, std::vector<std::string> columns, size_t first_width)
    : out_(out), columns_(std::move(columns)), first_width_(first_width) {
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
  rows_.push_back(row);
}

void Report::write_csv(const std::string& path) const {
  if (path.empty()) return;
  std::string text = cli::csv_row(columns_);
  for (const auto& row : rows_) text += cli::csv_row(row);
  write_file_atomic(path, text);
}

void Report::close(const std::string& csv_path) const {
  out_ << "\nresident memory at its most: " << mebibytes(run::peak_resident_bytes()) << " MiB\n";
  write_csv(csv_path);
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
