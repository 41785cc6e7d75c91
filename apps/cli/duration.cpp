#include "apps/cli/duration.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "engine/base/error.h"

namespace farfield::cli {
namespace {

struct Unit {
  char letter;
  double seconds;
};
constexpr Unit kUnits[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};

}  // namespace

std::string duration(double seconds) {
  const auto s = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  char text[48];
  if (s < 60) {
    std::snprintf(text, sizeof text, "%lld s", s);
  } else if (s < 3600) {
    std::snprintf(text, sizeof text, "%lld min %02lld s", s / 60, s % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld h %02lld min", s / 3600, s / 60 % 60);
  }
  return text;
}

double seconds_of_duration(const std::string& program, const std::string& option,
                           const std::string& text) {
  const auto refuse = [&] {
    fail<ConfigError>(program, option, ": expected a time such as 90s, 8m or 1h30m, got '", text,
                      "'");
  };
  const char *at = text.data(), *const end = at + text.size();
  const Unit* unit = std::begin(kUnits);  // units come from the largest to the smallest
  double sum = 0;
  while (at != end) {
    int64_t n = 0;
    const auto [behind, error] = std::from_chars(at, end, n);
    if (error != std::errc() || n < 0) refuse();
    const char letter = behind == end ? 's' : *behind;
    unit = std::find_if(unit, std::end(kUnits), [&](const Unit& u) { return u.letter == letter; });
    if (unit == std::end(kUnits)) refuse();
    sum += static_cast<double>(n) * unit->seconds;
    ++unit;
    at = behind == end ? end : behind + 1;
  }
  if (!(sum > 0)) refuse();
  return sum;
}

}  // namespace farfield::cli
