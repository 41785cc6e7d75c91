#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::posenc {

/// The numbers of a text file with n_row lines of n_column numbers each, separated by commas, row
/// after row. Spaces and tabs around a number, "\r\n" and a missing last line end are fine.
///
/// IoError "[posenc] <what>: <path>, line L, column C: ..." for a file that cannot be read, is no
/// regular file, is far larger than such a table, has a field that is no number, or not that many.
std::vector<double> read_number_table(std::string_view what, const std::string& path, int64_t n_row,
                                      int64_t n_column);

}  // namespace farfield::posenc
