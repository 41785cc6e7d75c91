#include "engine/comm/variables.h"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "engine/base/error.h"

namespace farfield::comm {
namespace {

constexpr std::string_view kWhere = "processes";

}  // namespace

Environment environment_of_process() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

int64_t number_of(const std::string& name, const std::string& text, int64_t least, int64_t most) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  require<ConfigError>(error == std::errc() && at == end && value >= least && value <= most, kWhere,
                       name, ": expected a number from ", least, " to ", most, ", got '", text,
                       "'");
  return value;
}

Variables::Variables(const Environment& environment, std::string starter)
    : environment_(environment), starter_(std::move(starter)) {}

std::string Variables::text(const std::string& name) const {
  const std::optional<std::string> value = environment_(name);
  require<ConfigError>(value.has_value() && !value->empty(), kWhere, name,
                       ": expected it to be set, as ", starter_, " sets it, got nothing");
  return *value;
}

int64_t Variables::number(const std::string& name, int64_t least, int64_t most) const {
  return number_of(name, text(name), least, most);
}

int64_t Variables::number_or(const std::string& name, int64_t otherwise, int64_t most) const {
  return has(name) ? number(name, 0, most) : otherwise;
}

}  // namespace farfield::comm
