#include "apps/run/settings.h"

#include <algorithm>

#include "engine/base/error.h"

namespace farfield::run {

Settings parse_settings(const std::string& name, std::string_view text) {
  Settings settings;
  for (size_t begin = 0, line = 1; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = text.substr(begin, end - begin);
    const size_t equals = row.find(" = ");
    require<IoError>(equals != std::string_view::npos && equals > 0, "config", name, ": line ",
                     line, ": expected 'key = value', got '", row, "'");
    settings.emplace_back(row.substr(0, equals), row.substr(equals + 3));
    begin = end + 1;
  }
  return settings;
}

std::string to_text(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) text.append(key).append(" = ").append(value) += '\n';
  return text;
}

std::string value_of(const Settings& settings, std::string_view key) {
  for (const auto& [name, value] : settings)
    if (name == key) return value;
  return "";
}

Settings without(const Settings& settings, const std::vector<std::string>& keys) {
  Settings kept;
  for (const auto& item : settings)
    if (std::find(keys.begin(), keys.end(), item.first) == keys.end()) kept.push_back(item);
  return kept;
}

std::string first_difference(const Settings& a, const Settings& b) {
  const auto differs = [](const Settings& from, const Settings& in) -> std::string {
    for (const auto& item : from)
      if (std::find(in.begin(), in.end(), item) == in.end()) return item.first;
    return "";
  };
  const std::string key = differs(a, b);
  return key.empty() ? differs(b, a) : key;
}

}  // namespace farfield::run
