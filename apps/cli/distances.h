#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace farfield::cli {

/// Distances as written, "0:64", "512", "1024:8192:1024": numbers and ranges with both ends, in the
/// order given. ConfigError for another form, a negative number or one from 2^22 on.
std::vector<int64_t> parse_distances(const std::vector<std::string>& parts);

/// 0, 1, 2, 4, ... up to 8 x train_len, and train_len: for a table on a terminal.
std::vector<int64_t> usual_distances(int64_t train_len);

/// Up to about 600 distances from 0 to `last`, for a line that is smooth on a linear axis and on a
/// logarithmic one.
std::vector<int64_t> drawn_distances(int64_t last);

}  // namespace farfield::cli
