#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

// Parameters that the user of an encoding declares, each a number per head:
//
//   declaration = name [ ">" "0" | ">=" number ] [ "<=" number ] start
//   start       = "~" "U" "(" low "," high ")"      drawn for each head, uniform in [low, high)
//               | "=" number                        for all heads
//               | "=" "[" number { "," number } "]" one per head

namespace farfield::posenc {

struct Declaration {
  std::string name = {};
  size_t column = 0;                                        ///< of the name, in the whole text
  double least = -std::numeric_limits<double>::infinity();  ///< 0.01 for ">0"
  double most = std::numeric_limits<double>::infinity();
  double low = 0, high = 0;         ///< of initial values that are drawn
  std::vector<double> values = {};  ///< initial values: one for all heads or one per head
  bool is_list = false;             ///< values were written in brackets
  size_t start_column = 0;          ///< of the initial values

  bool is_drawn() const { return values.empty(); }
  /// Without white space; parses to the same declaration.
  std::string text() const;
};

/// The meaning of ">0": the bound of the published KERPLE code.
inline constexpr double kLeastPositive = 0.01;

/// Reads the declaration of `name`, at `column` of text, whose rest is text[begin, begin + size).
/// ConfigError, with the column and a caret, for anything that is not by the grammar above, bounds
/// without a number between them and initial values out of bounds.
Declaration parse_declaration(std::string_view text, std::string name, size_t column, size_t begin,
                              size_t size);

}  // namespace farfield::posenc
