#include "data/tokenizers/pre_tokenizer.h"

#include <algorithm>

#include "data/tokenizers/blanks.h"
#include "data/tokenizers/unicode.h"
#include "engine/base/utf8.h"

// Finds the matches of the patterns; \s is White_Space, and the first alternative that fits counts:
//   gpt2         's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   cl100k_base  '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//                 ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s
//   qwen2        as cl100k_base, with \p{N} for \p{N}{1,3}
//   bloom        ?[^(\s|[.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C])]+, and what lies between
//   two matches

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

// A number in one more sense: what Rust calls numeric, by Unicode 17. The 13 that its Unicode 16
// does not have yet are symbols of four bytes.
bool is_later_number(std::string_view text, size_t at, const Symbol& s) {
  if (s.size != 4 || s.type != CharClass::other) return false;
  const uint32_t c = first_of_utf8(text.substr(at)).code_point;
  return (c >= 0x11DE0 && c <= 0x11DE9) || (c >= 0x16FF4 && c <= 0x16FF6);
}

// As gpt2_end(), where numbers are pieces of their own and the text ends in front of each.
size_t gpt2_digits_end(std::string_view text, size_t begin) {
  const auto is_number = [&](size_t at, const Symbol& s) {
    return s.type == CharClass::number || is_later_number(text, at, s);
  };
  if (text[begin] == '\'') {
    const size_t size = contraction(text, begin, /*any_case=*/false);
    if (size > 0) return begin + size;
  }
  Symbol s = symbol_at(text, begin);
  if (is_number(begin, s)) return begin + s.size;
  size_t at = begin;
  if (text[begin] == ' ' && begin + 1 < text.size()) s = symbol_at(text, ++at);
  if (s.type == CharClass::letter) return run_end(text, at + s.size, s.type);
  if (s.type == CharClass::other && !is_later_number(text, at, s)) {
    for (at += s.size; at < text.size(); at += s.size) {
      s = symbol_at(text, at);
      if (s.type != CharClass::other || is_later_number(text, at, s)) break;
    }
    return at;
  }
  const Space space = space_at(text, begin);
  if (space.end == text.size()) return space.end;
  return is_number(space.end, symbol_at(text, space.end)) ? space.end
                                                          : without_last(space, begin, text.size());
}

// Whether the words of bloom do not have the symbol.
bool parts_words(std::string_view text, size_t at, const Symbol& s) {
  if (s.type == CharClass::space) return true;
  if (s.type != CharClass::other) return false;
  if (s.size == 1) return std::string_view("(|).,!?").find(text[at]) != std::string_view::npos;
  const uint32_t c = first_of_utf8(text.substr(at)).code_point;
  return c == 0x2026 || c == 0x3002 || c == 0xFF0C || c == 0x3001 || c == 0x0964 || c == 0x06D4 ||
         c == 0x060C;
}

size_t bloom_end(std::string_view text, size_t begin) {
  const auto parts_at = [&](size_t at) { return parts_words(text, at, symbol_at(text, at)); };
  // Whether a word begins here, with the blank before it.
  const auto begins_word = [&](size_t at) {
    return !parts_at(at) || (text[at] == ' ' && at + 1 < text.size() && !parts_at(at + 1));
  };
  size_t at = begin;
  if (begins_word(begin)) {
    at += text[begin] == ' ';
    while (at < text.size() && !parts_at(at)) at += symbol_at(text, at).size;
  } else {
    while (at < text.size() && !begins_word(at)) at += symbol_at(text, at).size;
  }
  return at;
}

// Behind the first blank or, for runs, the first ones.
size_t blanks_end(std::string_view text, size_t begin, bool are_runs) {
  size_t at = begin;
  if (are_runs)
    while (text.substr(at).starts_with(kMarkedBlank)) at += kMarkedBlank.size();
  return std::min(text.find(kMarkedBlank, std::max(at, begin + 1)), text.size());
}

size_t cl100k_end(std::string_view text, size_t begin, bool keeps_end, int most_numbers) {
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
    for (int n = 1; n < most_numbers && at < text.size(); ++n) {
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

bool parts_bloom_words(std::string_view text, size_t at) {
  return parts_words(text, at, symbol_at(text, at));
}

size_t piece_end(Pattern pattern, std::string_view text, size_t begin) {
  switch (pattern) {
    case Pattern::gpt2:
      return gpt2_end(text, begin);
    case Pattern::cl100k_base:
      return cl100k_end(text, begin, /*keeps_end=*/true, /*most_numbers=*/3);
    case Pattern::cl100k_lines:
      return cl100k_end(text, begin, /*keeps_end=*/false, /*most_numbers=*/3);
    case Pattern::qwen2:
      return cl100k_end(text, begin, /*keeps_end=*/false, /*most_numbers=*/1);
    case Pattern::gpt2_digits:
      return gpt2_digits_end(text, begin);
    case Pattern::bloom:
      return bloom_end(text, begin);
    case Pattern::blanks:
      return blanks_end(text, begin, /*are_runs=*/false);
    case Pattern::blank_runs:
      return blanks_end(text, begin, /*are_runs=*/true);
    case Pattern::none:
      break;
  }
  return text.size();
}

}  // namespace farfield::data
