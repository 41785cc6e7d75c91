#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::run {

/// The place that errors of options name.
inline constexpr std::string_view kConfig = "config";

/// A word of an option and what it stands for.
template <class T>
struct Word {
  const char* word;
  T value;
};

/// The number of the word among `known`. ConfigError with the nearest word, by these and by the
/// names that other programs have for them.
size_t place_of_word(const char* name, const std::string& word,
                     const std::vector<std::string>& known);

template <class T>
T value_of_word(const char* name, const std::string& word, const std::vector<Word<T>>& words) {
  std::vector<std::string> known;
  for (const Word<T>& one : words) known.emplace_back(one.word);
  return words[place_of_word(name, word, known)].value;
}

/// A setting that config.conf holds only if it, or its preset, differs from the usual: old runs
/// lack it, and their hashes must stay the same.
template <class T>
T young_setting(std::optional<T>& value, const T& of_preset, const T& usual) {
  const T result = value.value_or(of_preset);
  value = result;
  if (result == usual && of_preset == usual) value.reset();
  return result;
}

/// The same of one that is given as a word.
template <class T>
T young_setting(const char* name, std::optional<std::string>& word, T of_preset, T usual,
                const std::vector<Word<T>>& words) {
  std::optional<T> value;
  if (word) value = value_of_word(name, *word, words);
  const T result = young_setting(value, of_preset, usual);
  word.reset();
  for (const Word<T>& one : words)
    if (value && one.value == *value) word = one.word;
  return result;
}

}  // namespace farfield::run
