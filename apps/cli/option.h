#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/cli/options.h"
#include "engine/base/error.h"

namespace farfield::cli {

/// One option of a program, and how its text reaches the caller's variable.
struct Option {
  std::string name;
  std::string placeholder;
  std::string help;
  bool is_flag = false;
  bool is_list = false;
  std::function<void(const std::string& where, const std::string& text)> set;
  std::function<void()> clear;  // lists: forget the default before the first value
  std::function<std::vector<std::string>()> get;  // texts that set() takes; none: no value
  bool starts_empty = false;                      // its default is an empty text
  bool is_paths = false;  // a list whose values may hold commas, each a word of its own
  std::function<bool(const std::string& text)> takes = {};  // whether set() would; empty: anything
};

/// "rope(base=1, scale=2) + window(3), alibi": the parts between commas that are outside brackets
/// and quotes, without the white space around them.
std::vector<std::string> split_list(std::string_view text);
/// The values of a list as one text, where split_list() gives them back from it; else as they are.
std::vector<std::string> in_one_text(const std::vector<std::string>& values);
/// Without the dashes at the beginning, "lengths" of "-lengths", and of "–lengths" with the dash of
/// a text; nothing where it has none, or is an option of the usual form.
std::string name_behind_dash(std::string_view word);
/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// The largest count that an option takes, far above anything that fits a machine: numbers computed
/// from it, such as the next number or its double, stay within 64 bits.
inline constexpr int64_t kMostCount = int64_t{1} << 53;

/// ConfigError, beginning with `where`, for a text that is no value of the type.
void read_value(const std::string& where, const std::string& text, std::string& value);
void read_value(const std::string& where, const std::string& text, int64_t& value);
void read_value(const std::string& where, const std::string& text, uint64_t& value);
void read_value(const std::string& where, const std::string& text, double& value);
void read_value(const std::string& where, const std::string& text, bool& value);

std::string show_value(const std::string& value);
std::string show_value(int64_t value);
std::string show_value(uint64_t value);
std::string show_value(double value);
std::string show_value(bool value);

/// Whether a text is a value of the type.
template <class T>
bool is_value(const std::string& text) {
  try {
    T value{};
    read_value("", text, value);
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

template <class T>
Option scalar(const std::string& name, T& value, const std::string& placeholder,
              const std::string& help) {
  Option option{name, placeholder, help, std::is_same_v<T, bool>, false, {}, {}, {}};
  option.set = [&value](const std::string& where, const std::string& text) {
    read_value(where, text, value);
  };
  option.get = [&value] { return std::vector<std::string>{show_value(value)}; };
  option.takes = is_value<T>;
  return option;
}

template <class T>
Option maybe(const std::string& name, std::optional<T>& value, const std::string& placeholder,
             const std::string& help) {
  Option option{name, placeholder, help, std::is_same_v<T, bool>, false, {}, {}, {}};
  option.set = [&value](const std::string& where, const std::string& text) {
    T read{};
    read_value(where, text, read);
    value = std::move(read);
  };
  option.get = [&value] {
    return value ? std::vector<std::string>{show_value(*value)} : std::vector<std::string>();
  };
  option.takes = is_value<T>;
  return option;
}

template <class T>
Option list(const std::string& name, std::vector<T>& values, const std::string& placeholder,
            const std::string& help) {
  Option option{name, placeholder, help, false, true, {}, {}, {}};
  option.clear = [&values] { values.clear(); };
  option.set = [&values](const std::string& where, const std::string& text) {
    for (const std::string& part : split_list(text)) {
      require<ConfigError>(!part.empty(), "config", where,
                           ": expected values between commas, got '", text, "'");
      T value{};
      read_value(where, part, value);
      values.push_back(std::move(value));
    }
  };
  option.get = [&values] {
    std::vector<std::string> texts;
    for (const T& value : values) texts.push_back(show_value(value));
    return in_one_text(texts);
  };
  option.takes = [](const std::string& text) {
    const std::vector<std::string> parts = split_list(text);
    return std::all_of(parts.begin(), parts.end(), is_value<T>);
  };
  return option;
}

Option paths(const std::string& name, std::vector<std::string>& values,
             const std::string& placeholder, const std::string& help);

}  // namespace farfield::cli
