#include "posenc/number_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/text.h"

namespace farfield::posenc {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxFieldSize = 64;  // bytes; the longest float64 has 24

// As in an error: in quotes, cut, unprintable bytes as '?'.
std::string shown(std::string_view field) {
  constexpr size_t kLongest = 40;
  std::string text(field.substr(0, kLongest));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return "'" + text + (field.size() > kLongest ? "...'" : "'");
}

// The text up to `end`, which is taken off together with `end` itself.
std::string_view take_until(std::string_view& text, char end) {
  const size_t size = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return taken;
}

double number(std::string_view text, const std::string& place) {
  const std::string_view field = trimmed(text);
  const char* const end = field.data() + field.size();
  double x = 0;
  const auto [stop, status] = std::from_chars(field.data(), end, x);
  // from_chars also reads "inf" and "nan".
  require<IoError>(status == std::errc() && stop == end &&
                       std::abs(x) <= double{std::numeric_limits<float>::max()},
                   "posenc", place, ": expected a number, got ", shown(field));
  return x;
}

std::string read_small_file(const std::string& where, const std::string& path, uintmax_t limit) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  require<IoError>(fs::exists(status), "posenc", where, ": expected a file, got ",
                   error ? error.message() : "none of that name",
                   "; a path is relative to the working directory");
  require<IoError>(fs::is_regular_file(status), "posenc", where,
                   ": expected a regular file, got something else");
  const uintmax_t size = fs::file_size(path, error);
  require<IoError>(!error && size <= limit, "posenc", where, ": expected at most ", limit,
                   " bytes for such a table, got ", error ? error.message() : concat(size));
  return read_file(path);
}

}  // namespace

std::vector<double> read_number_table(std::string_view what, const std::string& path, int64_t n_row,
                                      int64_t n_column) {
  const std::string where = concat(what, ": ", path);
  const auto n_number = static_cast<uintmax_t>(n_row) * static_cast<uintmax_t>(n_column);
  const std::string bytes = read_small_file(where, path, kMaxFieldSize * (n_number + 1));
  const std::string size = concat(n_row, " lines of ", n_column, " numbers");
  std::vector<double> numbers;
  std::string_view rest = bytes;
  int64_t line = 0;
  while (!rest.empty()) {
    std::string_view row = take_until(rest, '\n');
    if (rest.empty() && trimmed(row).empty()) break;  // one blank line at the end
    require<IoError>(++line <= n_row, "posenc", where, ": expected ", size, ", got more lines");
    const std::string place = concat(where, ", line ", line);
    int64_t column = 0;
    for (bool is_last = false; !is_last;) {
      is_last = row.find(',') == std::string_view::npos;
      require<IoError>(++column <= n_column, "posenc", place, ": expected ", n_column,
                       " numbers, got more");
      numbers.push_back(number(take_until(row, ','), concat(place, ", column ", column)));
    }
    require<IoError>(column == n_column, "posenc", place, ": expected ", n_column, " numbers, got ",
                     column);
  }
  require<IoError>(line == n_row, "posenc", where, ": expected ", size, ", got ", line, " lines");
  return numbers;
}

}  // namespace farfield::posenc
