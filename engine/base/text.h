#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace farfield {

/// The items one after the other, `between` two of them: "a, b, c". An item is written by
/// operator<<, or what name_of makes of it: joined(presets(), ", ", &Preset::name).
template <class Items, class NameOf = std::identity>
std::string joined(const Items& items, std::string_view between = ", ", NameOf name_of = {}) {
  std::ostringstream text;
  std::string_view before;  // nothing comes before the first
  for (const auto& item : items)
    text << std::exchange(before, between) << std::invoke(name_of, item);
  return std::move(text).str();
}

/// As in a sentence, `last` before the last: listed(words, " or ") is "a, b or c".
template <class Items>
std::string listed(const Items& items, std::string_view last) {
  std::ostringstream text;
  size_t n_left = std::size(items);
  std::string_view before;
  for (const auto& item : items) {
    text << before << item;
    before = --n_left == 1 ? last : ", ";
  }
  return std::move(text).str();
}

/// Without blanks, tabs and ends of lines at both ends.
std::string_view trimmed(std::string_view text);

/// With that many digits after the point: fixed(2.5, 2) is "2.50".
std::string fixed(double value, int n_digits);

/// The shortest text that reads back as this value: "0.1", "1e+30", "inf".
std::string shortest(double value);

}  // namespace farfield
