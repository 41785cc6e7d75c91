#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace farfield {

/// The first character of a text.
struct Utf8Sequence {
  uint32_t code_point = 0;  ///< 0 where it is ill-formed
  uint32_t size = 0;        ///< bytes of it, or of the maximal ill-formed subpart
  bool is_valid = false;
};

/// The sequence at the start of a text that is not empty.
Utf8Sequence first_of_utf8(std::string_view text);

/// Byte offset of the first ill-formed sequence, or npos when the text is valid UTF-8.
size_t find_invalid_utf8(std::string_view text);

/// How many ill-formed sequences replace_invalid_utf8() would replace.
int64_t count_invalid_utf8(std::string_view text);

/// Cuts the text to at most `size` bytes without cutting a character.
void cut_utf8(std::string& text, size_t size);

/// Replaces each maximal ill-formed subpart by U+FFFD and returns how many there were.
/// Source    The Unicode Standard 14.0, section 3.9, table 3-7 and "U+FFFD Substitution of Maximal
///           Subparts"
int64_t replace_invalid_utf8(std::string& text);

/// replace_invalid_utf8() for a text that comes in pieces, wherever they are cut.
class Utf8Replacer {
 public:
  /// Appends the text so far to `out`, in whole characters: up to three bytes wait for the next
  /// piece.
  void append(std::string_view piece, std::string& out);
  /// The text ends: what waited for more is ill-formed.
  void finish(std::string& out);

  int64_t n_replaced() const { return n_replaced_; }
  /// Byte offset of the first ill-formed sequence, or npos.
  size_t first_invalid() const { return first_invalid_; }

 private:
  void put(std::string_view text, std::string& out);

  std::string waiting_;
  size_t offset_ = 0;  // bytes before the waiting ones
  size_t first_invalid_ = std::string_view::npos;
  int64_t n_replaced_ = 0;
};

/// The code point as UTF-8, at the end of `text`.
void append_utf8(uint32_t code_point, std::string& text);

}  // namespace farfield
