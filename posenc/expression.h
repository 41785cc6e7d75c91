#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

// The text form of a composition of encodings; white space is free between tokens:
//
//   expression = term { "+" term }
//   term       = name [ "(" [ argument { "," argument } ] ")" ] [ "@" layer [ ".." layer ] ]
//   argument   = [ name "=" ] value          only the first may go without its name
//   value      = number | word | "[" [ number { "," number } ] "]" | "quoted text" | "@" file
//              | formula                     where the encoding takes one: formula.h
//   layer      = integer, negative ones count from the end
//
// An encoding may let its user declare parameters: such an argument is a declaration
// (declaration.h).
//
// Names and words are a letter or "_", then letters, digits and "_". In quoted text, \" and
// \\ stand for " and \. A file is a quoted text, or all up to the next white space, comma or
// parenthesis.

namespace farfield::posenc {

/// Longest expression, in bytes.
inline constexpr size_t kMaxExpressionSize = 8192;

/// A value as written.
struct Value {
  enum class Kind { number, word, list, text, file, formula, declaration };
  Value() = default;
  Value(double x) : number(x) {}
  Value(int64_t x) : number(static_cast<double>(x)) {}
  Value(std::string word) : kind(Kind::word), text(std::move(word)) {}

  Kind kind = Kind::number;
  double number = 0;
  /// The text of a word, a quotation or a file; formulas and declarations as written.
  std::string text = {};
  std::vector<double> list = {};
  size_t column = 0;  ///< from 1; 0 when it was not written (a default)

  /// The same value, wherever it was written.
  bool same(const Value& other) const;
};

/// Text that parses to the value.
std::string to_text(const Value& value);
/// The shortest text that reads back as x.
std::string to_text(double x);

struct ParsedArgument {
  std::string name = {};  ///< empty: the first argument, unnamed
  size_t column = 0;
  Value value = {};
};

/// Layers as written, inclusive; negative ones count from the end.
struct ParsedLayers {
  int64_t first = 0, last = 0;
  size_t column = 0;
};

struct ParsedTerm {
  std::string name = {};
  size_t column = 0;
  std::vector<ParsedArgument> arguments = {};
  std::optional<ParsedLayers> layers = {};
};

/// How an argument is read. Formulas and declarations are kept as written, up to the comma or the
/// parenthesis that ends them.
enum class Form { value, formula, declaration };
/// The form of an argument of an encoding, by its name ("": the first, unnamed) and the character
/// after the name.
using FormOf = Form (*)(std::string_view encoding, std::string_view argument, char after);

/// One or more terms in the order written. ConfigError, with the column and a caret under the
/// place, for anything else. Without form_of, all arguments are values.
std::vector<ParsedTerm> parse_expression(std::string_view text, FormOf form_of = nullptr);

/// Text that parses to the term.
std::string to_text(const ParsedTerm& term);
/// The argument of that name; nullptr if it is not written.
ParsedArgument* find_argument(ParsedTerm& term, std::string_view name);

/// " at column C", the line and a caret line below; unprintable bytes are shown as '?', a long line
/// is cut around the place. "" for column 0.
std::string show_place(std::string_view text, size_t column);

}  // namespace farfield::posenc
