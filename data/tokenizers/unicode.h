#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace farfield::data {

/// The classes that the patterns of tokenizers distinguish.
enum class CharClass : uint8_t {
  other,   ///< marks, punctuation, symbols, controls, and unassigned code points
  letter,  ///< general categories Lu Ll Lt Lm Lo
  number,  ///< Nd Nl No
  space,   ///< the property White_Space
};

/// The class of a code point in Unicode 16, as in `tokenizers` and tiktoken.
CharClass class_of(uint32_t code_point);

/// The next symbol of a text. A byte that belongs to no well-formed sequence is a symbol `other` of
/// its own, so that every text can be cut into symbols and put together again.
struct Symbol {
  CharClass type;
  uint32_t size;  ///< bytes
};
Symbol symbol_at(std::string_view text, size_t at);
/// The symbol that ends at `at`, which is not 0.
Symbol symbol_before(std::string_view text, size_t at);

/// Whether an added token that is one word stands beside a part of a word: white space or anything
/// else that patterns do not call \w keeps it apart.
bool is_within_word(std::string_view text, size_t begin, size_t end);

/// Where the white space that ends at a place begins, from `least` on, and where that at a place
/// ends.
size_t space_before(std::string_view text, size_t end, size_t least);
size_t space_behind(std::string_view text, size_t begin);

/// The text in Normalization Form C by the tables of Unicode 9, as `tokenizers` has it: marks that
/// came later stay where they are, as bytes that are not UTF-8 do, and nothing composes across
/// them. Takes time in proportion to the size, whatever the text. Source    Unicode Standard Annex
/// #15
std::string nfc(std::string_view text);

}  // namespace farfield::data
