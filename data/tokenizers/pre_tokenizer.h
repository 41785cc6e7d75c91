#pragma once

#include <string_view>

namespace farfield::data {

/// How a text is cut into pieces before pairs are merged within each. Every byte is in one piece.
enum class Pattern {
  none,  ///< the text is one piece
  gpt2,
  cl100k_base,  ///< as tiktoken cuts
  /// The form in tokenizer.json of models after cl100k_base, Llama 3 among them: white space at the
  /// end of the text is cut behind its last line end.
  cl100k_lines,
  qwen2,        ///< cl100k_lines, with each number a piece of its own
  gpt2_digits,  ///< each number is a piece, and what lies between is cut as by gpt2
  bloom,        ///< words, and stretches of white space and punctuation
  // Of an alphabet of characters, with marked blanks:
  blanks,      ///< each blank begins a piece
  blank_runs,  ///< each run of blanks does
};

/// The end of the piece that begins at `begin`, a place in the text.
size_t piece_end(Pattern pattern, std::string_view text, size_t begin);

/// Whether the symbol at a place is one of those that Pattern::bloom cuts words at, white space
/// among them.
bool parts_bloom_words(std::string_view text, size_t at);

/// f(piece) for each piece of the text, from the first to the last.
template <class F>
void for_each_piece(Pattern pattern, std::string_view text, const F& f) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = piece_end(pattern, text, at);
    f(text.substr(at, end - at));
    at = end;
  }
}

}  // namespace farfield::data
