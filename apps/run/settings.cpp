#include "apps/run/settings.h"

#include <algorithm>
#include <utility>

#include "apps/cli/config_file.h"
#include "engine/base/error.h"

namespace farfield::run {

Settings parse_settings(const std::string& name, std::string_view text) {
  Settings settings;
  try {
    for (cli::ConfigLine& line : cli::parse_config(name, text))
      settings.emplace_back(std::move(line.key), std::move(line.value));
  } catch (const ConfigError& error) {
    throw IoError(error.what());
  }
  return settings;
}

std::string config_text(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings) text += cli::config_line(key, value);
  return text;
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
