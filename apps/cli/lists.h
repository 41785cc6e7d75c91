#pragma once

#include <algorithm>
#include <vector>

namespace farfield::cli {

template <class T>
bool has(const std::vector<T>& all, const T& value) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

/// Appends the values that the list does not hold yet.
template <class T>
void add_new(std::vector<T>& all, const T& value) {
  if (!has(all, value)) all.push_back(value);
}

}  // namespace farfield::cli
