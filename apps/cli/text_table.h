#pragma once

#include <string>
#include <vector>

namespace farfield::cli {

/// Rows of equal length as lines of columns that line up, UTF-8 counted as it is seen: the first
/// column to the left, the others to the right, `gap` spaces between them.
std::string text_table(const std::vector<std::vector<std::string>>& rows, size_t gap = 3);

}  // namespace farfield::cli
