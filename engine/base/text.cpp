#include "engine/base/text.h"

#include <charconv>
#include <iomanip>

namespace farfield {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string fixed(double value, int n_digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(n_digits) << value;
  return std::move(text).str();
}

std::string shortest(double value) {
  char text[32];  // the longest float64 has 24
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace farfield
