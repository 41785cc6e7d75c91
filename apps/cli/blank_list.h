#pragma once

#include <string>
#include <vector>

namespace farfield::cli {

/// A list whose values were given with blanks between them, "--lengths 64 128 256": the option gets
/// the first word, and the others are arguments without a name.
struct BlankList {
  std::string option;              ///< its name, without dashes
  std::vector<std::string> words;  ///< all behind the option, its own value first

  bool has_loose(const std::string& word) const;
  /// "; values of --lengths are joined by commas: --lengths 64,128,256"
  std::string way_out() const;
};

/// The way out of the list that the word is a loose value of; "" where it is of none.
std::string blank_list_hint(const std::vector<BlankList>& lists, const std::string& word);

}  // namespace farfield::cli
