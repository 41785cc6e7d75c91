#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace farfield::cli {

/// One row of RFC 4180, ended by "\n": a field with a comma, a quote or a line end is quoted.
std::string csv_row(const std::vector<std::string>& fields);

/// The rows of a whole file, header included. IoError, naming `name` and the line, for a quote that
/// is never closed.
std::vector<std::vector<std::string>> parse_csv(const std::string& name, std::string_view text);

}  // namespace farfield::cli
