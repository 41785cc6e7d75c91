#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/static_costs/kinds.h"

namespace farfield::static_costs {

/// The fields of a line of a file, read with IoErrors that name it.
class Fields {
 public:
  /// Throws    IoError unless there are as many fields as columns
  Fields(const std::string& name, size_t line, const std::vector<std::string>& fields,
         size_t n_columns);

  int64_t number(std::string_view text) const;
  /// Of "28:0:0:20:2:3:0:4:5", in the order of kinds.
  Counts counts(std::string_view text) const;

 private:
  const std::string& name_;
  size_t line_;
};

/// What stands between separators; nothing of "".
std::vector<std::string_view> parts_of(std::string_view text, char separator);

}  // namespace farfield::static_costs
