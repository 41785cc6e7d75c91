#include "data/tokenizers/pre_tokenizer.h"

#include "data/tokenizers/unicode.h"

// Finds the matches of the patterns; \s is White_Space, and the first alternative that fits counts:
//   gpt2         's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   cl100k_base  '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//                 ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s

namespace farfield::data {
namespace {

bool is_line_end(char c) { return c == '\r' || c == '\n'; }

// The end of the run of symbols of one class that goes on at `at`.
size_t run_end(std::string_view text, size_t at, CharClass type) {
  while (at < text.size()) {
    const Symbol s = symbol_at(text, at);
    if (s.type != type) break;
    at += s.size;
  }
  return at;
}

// Bytes of a contraction at an apostrophe, or 0.
size_t contraction(std::string_view text, size_t at, bool any_case) {
  const std::string_view rest = text.substr(at + 1, 2);
  const auto letter = [&](size_t i) {
    const char c = i < rest.size() ? rest[i] : '\0';
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  const char a = letter(0), b = letter(1);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return 3;
  // U+017F, the long s, is an s in another case.
  if (any_case && rest == "\xC5\xBF") return 3;
  return 0;
}

// White space from `begin` on: where it ends, and where its last symbol begins.
struct Space {
  size_t last, end;
};
Space space_at(std::string_view text, size_t begin) {
  Space space = {begin, begin};
  while (space.end < text.size()) {
    const Symbol s = symbol_at(text, space.end);
    if (s.type != CharClass::space) break;
    space.last = space.end;
    space.end += s.size;
  }
  return space;
}

// \s+(?!\S)|\s+: what follows keeps the last symbol.
size_t without_last(const Space& space, size_t begin, size_t text_size) {
  return space.end < text_size && space.last > begin ? space.last : space.end;
}

size_t gpt2_end(std::string_view text, size_t begin) {
  if (text[begin] == '\'') {
    const size_t size = contraction(text, begin, /*any_case=*/false);
    if (size > 0) return begin + size;
  }
  Symbol s = symbol_at(text, begin);
  size_t at = begin;
  if (text[begin] == ' ' && begin + 1 < text.size()) s = symbol_at(text, ++at);
  if (s.type != CharClass::space) return run_end(text, at + s.size, s.type);
  return without_last(space_at(text, begin), begin, text.size());
}

size_t cl100k_end(std::string_view text, size_t begin, bool keeps_end) {
  const char first = text[begin];
  if (first == '\'') {
    const size_t size = contraction(text, begin, /*any_case=*/true);
    if (size > 0) return begin + size;
  }
  const Symbol s = symbol_at(text, begin);
  const size_t next = begin + s.size;
  if (s.type == CharClass::letter) return run_end(text, next, s.type);
  if (s.type == CharClass::number) {
    size_t at = next;
    for (int n = 1; n < 3 && at < text.size(); ++n) {
      const Symbol digit = symbol_at(text, at);
      if (digit.type != CharClass::number) break;
      at += digit.size;
    }
    return at;
  }
  CharClass following = CharClass::space;
  if (next < text.size()) following = symbol_at(text, next).type;
  if (following == CharClass::letter && !is_line_end(first)) return run_end(text, next, following);
  if (s.type == CharClass::other || (first == ' ' && following == CharClass::other)) {
    size_t at = run_end(text, next, CharClass::other);
    while (at < text.size() && is_line_end(text[at])) ++at;
    return at;
  }
  const Space space = space_at(text, begin);
  if (keeps_end && space.end == text.size()) return space.end;
  for (size_t at = space.end; at > begin; --at)
    if (is_line_end(text[at - 1])) return at;
  return without_last(space, begin, text.size());
}

}  // namespace

size_t piece_end(Pattern pattern, std::string_view text, size_t begin) {
  switch (pattern) {
    case Pattern::gpt2:
      return gpt2_end(text, begin);
    case Pattern::cl100k_base:
      return cl100k_end(text, begin, /*keeps_end=*/true);
    case Pattern::cl100k_lines:
      return cl100k_end(text, begin, /*keeps_end=*/false);
    case Pattern::none:
      break;
  }
  return text.size();
}

}  // namespace farfield::data
