#pragma once

#include <string>
#include <string_view>

namespace farfield::data {

/// How SentencePiece, and tokenizers made from its models, write a blank: U+2581.
inline constexpr std::string_view kMarkedBlank = "\xE2\x96\x81";

/// Which parts of a text get a blank in front, so that their first word is a token as any other is.
/// Parts are what lies between added tokens.
enum class BlankInFront {
  never,
  first,   ///< the part that the text begins with, unless it begins with a blank
  always,  ///< every part; by a pre-tokenizer, unless it begins with a blank
};

/// The step that marks blanks, and puts one in front.
struct BlankRule {
  enum class Step { none, normalizer, pre_tokenizer };
  Step step = Step::none;
  BlankInFront in_front = BlankInFront::never;  ///< a normalizer: never or always
};

/// The text with its blanks marked, behind one more if it is to begin with it.
std::string mark_blanks(std::string_view text, bool begins_with_one);

/// The text with marked blanks as blanks.
std::string unmark_blanks(std::string_view text);

}  // namespace farfield::data
