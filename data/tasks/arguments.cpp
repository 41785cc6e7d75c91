#include "data/tasks/arguments.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "data/tasks/row.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "task";

// The whole text as a number.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string_view> items_of_list(std::string_view text) {
  const bool is_list = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  if (!is_list) return {text};
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> items;
  while (true) {
    const size_t comma = text.find(',');
    items.push_back(trimmed(text.substr(0, comma)));
    if (comma == text.npos) return items;
    text = text.substr(comma + 1);
  }
}

}  // namespace

TaskArguments::TaskArguments(const TaskRow& row, const Given& given) : row_(row) {
  std::vector<std::string> names;
  for (const TaskArgument& argument : row.arguments) names.push_back(argument.name);
  for (const auto& [name, value] : given) {
    require<ConfigError>(!names.empty(), kWhere, "bad_argument: ", row.name,
                         ": expected no options, got '", name, "'");
    require<ConfigError>(std::find(names.begin(), names.end(), name) != names.end(), kWhere,
                         "bad_argument: ", row.name, ": expected an option out of ", joined(names),
                         ", got '", name, "'", did_you_mean(name, names));
    require<ConfigError>(given_.emplace(name, value).second, kWhere, "bad_argument: ", row.name,
                         ": expected '", name, "' once, got it twice");
  }
}

std::string TaskArguments::word(const std::string& name, const std::vector<std::string>& words) {
  const std::string& text = value(name);
  if (std::find(words.begin(), words.end(), text) == words.end())
    refuse(name, listed(words, " or "), did_you_mean(text, words));
  return read_[name] = text;
}

int64_t TaskArguments::integer(const std::string& name, int64_t least, int64_t most) {
  const std::optional<int64_t> number = number_in<int64_t>(value(name));
  if (!number || *number < least || *number > most)
    refuse(name, concat("a whole number in ", least, " ... ", most));
  read_[name] = std::to_string(*number);
  return *number;
}

std::optional<int64_t> TaskArguments::integer_or(const std::string& none, const std::string& name,
                                                 int64_t least, int64_t most) {
  if (value(name) == none) {
    read_[name] = none;
    return std::nullopt;
  }
  const std::optional<int64_t> number = number_in<int64_t>(value(name));
  if (!number || *number < least || *number > most)
    refuse(name, concat(none, " or a whole number in ", least, " ... ", most));
  read_[name] = std::to_string(*number);
  return number;
}

std::optional<int64_t> TaskArguments::integer_if_given(const std::string& name, int64_t least,
                                                       int64_t most) {
  const std::optional<int64_t> number = integer_or("none", name, least, most);
  if (!number) read_[name].clear();
  return number;
}

std::vector<double> TaskArguments::probabilities(const std::string& name) {
  std::vector<double> numbers;
  for (const std::string_view item : items_of_list(value(name))) {
    const std::optional<double> number = number_in<double>(item);
    if (!number || !(*number >= 0 && *number <= 1))
      refuse(name, "a number in 0 ... 1 or a list of them, such as [0.9, 0.1]");
    numbers.push_back(*number);
  }
  const std::string text = joined(numbers, ", ", shortest);
  read_[name] = numbers.size() == 1 ? text : '[' + text + ']';
  return numbers;
}

std::string TaskArguments::canonical() const {
  std::vector<std::string> texts;
  for (const TaskArgument& argument : row_.arguments)
    if (const auto found = read_.find(argument.name);
        found != read_.end() && !found->second.empty())
      texts.push_back(argument.name + '=' + found->second);
  return texts.empty() ? row_.name : row_.name + '(' + joined(texts) + ')';
}

void TaskArguments::refuse_unread() const {
  for (const auto& [name, text] : given_)
    require<ConfigError>(read_.count(name) > 0, kWhere, "bad_argument: ", row_.name,
                         ": expected no '", name, "', which ", canonical(), " does not use, got ",
                         name, '=', text);
}

const std::string& TaskArguments::value(const std::string& name) const {
  if (const auto found = given_.find(name); found != given_.end()) return found->second;
  return std::find_if(row_.arguments.begin(), row_.arguments.end(),
                      [&](const TaskArgument& a) { return a.name == name; })
      ->fallback;
}

void TaskArguments::refuse(const std::string& name, const std::string& expected,
                           const std::string& hint) const {
  fail<ConfigError>(kWhere, "bad_argument: ", row_.name, ": ", name, ": expected ", expected,
                    ", got '", value(name), "'", hint);
}

}  // namespace farfield::data
