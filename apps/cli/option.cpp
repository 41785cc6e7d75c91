#include "apps/cli/option.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "engine/base/text.h"

namespace farfield::cli {
namespace {

constexpr std::string_view kWhere = "config";

template <class T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// A whole number that does not fit its type.
bool is_too_large(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::result_out_of_range && end == text.data() + text.size();
}

// "; write 1000" for "1e3", "1k" and "1kB"; empty for a text that is not meant as a whole number.
std::string written_out(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) return "";
  std::string_view unit(rest, static_cast<size_t>(end - rest));
  if (unit.ends_with('B')) unit.remove_suffix(1);
  const bool is_binary = unit.ends_with('i');
  if (is_binary) unit.remove_suffix(1);
  const size_t power =
      unit.empty() ? 0 : std::string_view("kMGT").find(unit == "K" ? "k" : unit) + 1;
  if (unit.size() > 1 || (!unit.empty() && power == 0)) return "";
  value *= std::pow(is_binary ? 1024.0 : 1000.0, static_cast<double>(power));
  if (value < 0 || value != std::floor(value) || value > static_cast<double>(kMostCount)) return "";
  return concat("; write ", static_cast<int64_t>(value));
}

}  // namespace

std::string number(double value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return std::string(text, result.ptr);
}

void read_value(const std::string&, const std::string& text, std::string& value) { value = text; }
void read_value(const std::string& where, const std::string& text, int64_t& value) {
  require<ConfigError>(!is_too_large(trimmed(text)), kWhere, where,
                       ": expected a whole number of at most 2^53, got ", trimmed(text));
  require<ConfigError>(read_number(trimmed(text), value), kWhere, where,
                       ": expected a whole number, got '", text, "'", written_out(trimmed(text)));
  require<ConfigError>(value >= -kMostCount && value <= kMostCount, kWhere, where,
                       ": expected a whole number of at most 2^53, got ", value);
}
void read_value(const std::string& where, const std::string& text, uint64_t& value) {
  require<ConfigError>(read_number(trimmed(text), value), kWhere, where,
                       ": expected a whole number from 0 on, got '", text, "'",
                       written_out(trimmed(text)));
}
void read_value(const std::string& where, const std::string& text, double& value) {
  require<ConfigError>(read_number(trimmed(text), value), kWhere, where,
                       ": expected a number, got '", text, "'");
}
void read_value(const std::string& where, const std::string& text, bool& value) {
  const std::string_view word = trimmed(text);
  require<ConfigError>(word == "true" || word == "false", kWhere, where,
                       ": expected true or false, got '", text, "'");
  value = word == "true";
}

std::string show_value(const std::string& value) { return value; }
std::string show_value(int64_t value) { return std::to_string(value); }
std::string show_value(uint64_t value) { return std::to_string(value); }
std::string show_value(double value) { return number(value); }
std::string show_value(bool value) { return value ? "true" : "false"; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string name_behind_dash(std::string_view word) {
  for (const std::string_view dash : {"–", "—", "-"})
    if (word.starts_with(dash) && !word.starts_with("--")) {
      word.remove_prefix(dash.size());
      return std::string(word.substr(0, word.find('=')));
    }
  return "";
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '(' || c == '[')) ++depth;
    if (!quoted && (c == ')' || c == ']')) --depth;
    if (c == ',' && depth <= 0 && !quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = std::string(trimmed(part));
  return parts;
}

std::vector<std::string> in_one_text(const std::vector<std::string>& values) {
  if (values.empty()) return {};
  const std::string text = joined(values, ",");
  return split_list(text) == values ? std::vector<std::string>{text} : values;
}

Option paths(const std::string& name, std::vector<std::string>& values,
             const std::string& placeholder, const std::string& help) {
  Option option = list(name, values, placeholder, help);
  option.is_paths = true;
  option.set = [&values](const std::string& where, const std::string& text) {
    require<ConfigError>(!text.empty(), kWhere, where, ": expected a path, got nothing");
    values.push_back(text);
  };
  option.get = [&values] { return values; };
  return option;
}

}  // namespace farfield::cli
