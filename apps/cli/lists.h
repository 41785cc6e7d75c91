#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace farfield::cli {

template <class T>
bool has(const std::vector<T>& all, const T& value) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

/// Appends what is not there yet.
template <class T>
void add_new(std::vector<T>& all, const T& value) {
  if (!has(all, value)) all.push_back(value);
}

/// "alibi, rope": for messages.
inline std::string list_of(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list.append(list.empty() ? "" : ", ").append(word);
  return list;
}

}  // namespace farfield::cli
