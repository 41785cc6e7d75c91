#include "apps/prepare/splits_table.h"

#include <iomanip>
#include <string>

namespace farfield::prepare {
namespace {

std::string shown(int64_t count) {
  return count == data::kUnknown ? "unknown" : std::to_string(count);
}

}  // namespace

void print_splits(const std::array<data::TokenCounts, 3>& counts, std::ostream& out) {
  out << std::left << std::setw(8) << "split" << std::right << std::setw(12) << "documents"
      << std::setw(14) << "tokens" << std::setw(14) << "bytes" << '\n';
  for (size_t i = 0; i < data::kSplits.size(); ++i)
    out << std::left << std::setw(8) << data::kSplits[i] << std::right << std::setw(12)
        << shown(counts[i].documents) << std::setw(14) << shown(counts[i].tokens) << std::setw(14)
        << shown(counts[i].bytes) << '\n';
}

void print_splits(const data::Manifest& manifest, std::ostream& out) {
  std::array<data::TokenCounts, 3> counts;
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = manifest.splits[i].counts;
  print_splits(counts, out);
}

}  // namespace farfield::prepare
