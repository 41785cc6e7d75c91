#include "apps/run/data_use.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::run {

DataUse parse_data_use(const std::string& text) {
  const size_t colon = text.rfind(':');
  std::error_code status;
  if (colon == std::string::npos || std::filesystem::exists(text, status)) return {text};
  double weight = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + colon + 1, end, weight);
  if (error != std::errc() || last != end) return {text};
  require<ConfigError>(std::isfinite(weight) && weight > 0, "data",
                       "--data: expected PATH or PATH:WEIGHT with a weight above 0, got '", text,
                       "'");
  return {text.substr(0, colon), weight};
}

std::string to_text(const DataUse& use) {
  return use.weight == 1 ? use.path : concat(use.path, ':', shortest(use.weight));
}

}  // namespace farfield::run
