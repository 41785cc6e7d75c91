#include "apps/cli/distances.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "engine/base/error.h"

namespace farfield::cli {
namespace {

constexpr int64_t kMost = int64_t{1} << 22;  // tables of so many entries per head still fit
constexpr size_t kMostRows = 10'000'000;

}  // namespace

std::vector<int64_t> parse_distances(const std::vector<std::string>& parts) {
  std::vector<int64_t> distances;
  for (const std::string& part : parts) {
    std::vector<int64_t> numbers;
    const char* at = part.data();
    const char* const end = at + part.size();
    bool ok = true;
    while (ok) {
      int64_t number = 0;
      const auto read = std::from_chars(at, end, number);
      ok = read.ec == std::errc() && number >= 0 && number < kMost && numbers.size() < 3;
      numbers.push_back(number);
      at = read.ptr;
      if (at == end) break;
      ok = ok && *at++ == ':';
    }
    const int64_t step = numbers.size() == 3 ? numbers[2] : 1;
    require<ConfigError>(ok && step >= 1 && (numbers.size() == 1 || numbers[0] <= numbers[1]),
                         "inspect",
                         "--distances: expected numbers D, ranges FIRST:LAST or FIRST:LAST:STEP, "
                         "from 0 to 2^22 - 1, got '",
                         part, "'");
    for (int64_t d = numbers[0]; d <= numbers[numbers.size() > 1 ? 1 : 0]; d += step)
      distances.push_back(d);
    require<ConfigError>(distances.size() <= kMostRows, "inspect", "--distances: expected at most ",
                         kMostRows, " of them");
  }
  return distances;
}

std::vector<int64_t> usual_distances(int64_t train_len) {
  const int64_t last = std::min(8 * train_len, kMost - 1);
  std::set<int64_t> distances = {0, std::min(train_len, last)};
  for (int64_t d = 1; d <= last; d *= 2) distances.insert(d);
  return {distances.begin(), distances.end()};
}

std::vector<int64_t> drawn_distances(int64_t last) {
  std::set<int64_t> distances;
  for (int64_t i = 0; i <= 300; ++i) distances.insert(last * i / 300);
  for (double d = 1; d <= static_cast<double>(last); d *= 1.04)
    distances.insert(static_cast<int64_t>(d));
  return {distances.begin(), distances.end()};
}

}  // namespace farfield::cli
