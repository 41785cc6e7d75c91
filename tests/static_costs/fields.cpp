#include "tests/static_costs/fields.h"

#include <algorithm>
#include <charconv>

#include "engine/base/error.h"

namespace farfield::static_costs {

Fields::Fields(const std::string& name, size_t line, const std::vector<std::string>& fields,
               size_t n_columns)
    : name_(name), line_(line) {
  require<IoError>(fields.size() == n_columns, "static_costs", name, ": expected ", n_columns,
                   " fields in line ", line, ", got ", fields.size());
}

int64_t Fields::number(std::string_view text) const {
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  require<IoError>(read.ec == std::errc() && read.ptr == text.data() + text.size(), "static_costs",
                   name_, ": expected a number in line ", line_, ", got '", text, "'");
  return value;
}

Counts Fields::counts(std::string_view text) const {
  const auto parts = parts_of(text, ':');
  require<IoError>(parts.size() == kKinds, "static_costs", name_, ": expected ", kKinds,
                   " numbers in line ", line_, ", got '", text, "'");
  Counts counts = {};
  for (size_t k = 0; k < parts.size(); ++k) counts[k] = number(parts[k]);
  return counts;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace farfield::static_costs
