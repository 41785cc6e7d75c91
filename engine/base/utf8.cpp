#include "engine/base/utf8.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace farfield {
namespace {

struct Step {
  size_t size;  // bytes of the sequence, or of the maximal ill-formed subpart
  bool is_valid;
};

// The sequence at the start of text, which is not empty.
Step step(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, true};
  // Number of bytes, and the range of the second one: it excludes overlong forms (E0, F0),
  // surrogates (ED) and code points beyond U+10FFFF (F4).
  size_t size = 0;
  unsigned char low = 0x80, high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    size = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    size = 3;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    size = 4;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  for (size_t i = 1; i < size; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {size, true};
}

// Offset of the first byte at or after `at` that is not ASCII.
size_t skip_ascii(std::string_view text, size_t at) {
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

size_t find_invalid_from(std::string_view text, size_t at) {
  while ((at = skip_ascii(text, at)) < text.size()) {
    const Step s = step(text.substr(at));
    if (!s.is_valid) return at;
    at += s.size;
  }
  return std::string_view::npos;
}

// Bytes at the end that begin a sequence which more bytes could complete.
size_t size_of_incomplete_tail(std::string_view text) {
  for (size_t n = 1; n <= std::min<size_t>(3, text.size()); ++n) {
    const auto first = static_cast<unsigned char>(text[text.size() - n]);
    if ((first & 0xC0) == 0x80) continue;
    if (first < 0xC2 || first > 0xF4) return 0;
    const Step s = step(text.substr(text.size() - n));
    return !s.is_valid && s.size == n ? n : 0;
  }
  return 0;
}

}  // namespace

Utf8Sequence first_of_utf8(std::string_view text) {
  const Step s = step(text);
  Utf8Sequence result = {0, static_cast<uint32_t>(s.size), s.is_valid};
  if (!s.is_valid) return result;
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(text[i])}; };
  // The first byte has as many bits less as the sequence has bytes more.
  result.code_point = s.size == 1 ? byte(0) : byte(0) & (0x7Fu >> s.size);
  for (size_t i = 1; i < s.size; ++i) result.code_point = result.code_point << 6 | (byte(i) & 0x3F);
  return result;
}

size_t find_invalid_utf8(std::string_view text) { return find_invalid_from(text, 0); }

int64_t count_invalid_utf8(std::string_view text) {
  int64_t count = 0;
  for (size_t bad = find_invalid_utf8(text); bad != std::string_view::npos; ++count)
    bad = find_invalid_from(text, bad + step(text.substr(bad)).size);
  return count;
}

void cut_utf8(std::string& text, size_t size) {
  if (size >= text.size()) return;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  text.resize(size);
}

int64_t replace_invalid_utf8(std::string& text) {
  if (find_invalid_utf8(text) == std::string::npos) return 0;
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  Utf8Replacer replacer;
  replacer.append(text, result);
  replacer.finish(result);
  text = std::move(result);
  return replacer.n_replaced();
}

void Utf8Replacer::put(std::string_view text, std::string& out) {
  size_t at = 0;
  for (size_t bad = 0; (bad = find_invalid_from(text, at)) != std::string_view::npos;) {
    out.append(text, at, bad - at);
    out += "\xEF\xBF\xBD";
    at = bad + step(text.substr(bad)).size;
    if (n_replaced_++ == 0) first_invalid_ = offset_ + bad;
  }
  out.append(text, at);
  offset_ += text.size();
}

void Utf8Replacer::append(std::string_view piece, std::string& out) {
  std::string joined;
  if (!waiting_.empty()) {
    joined = std::exchange(waiting_, {});
    joined += piece;
    piece = joined;
  }
  const size_t tail = size_of_incomplete_tail(piece);
  put(piece.substr(0, piece.size() - tail), out);
  waiting_ = piece.substr(piece.size() - tail);
}

void Utf8Replacer::finish(std::string& out) { put(std::exchange(waiting_, {}), out); }

void append_utf8(uint32_t code_point, std::string& text) {
  const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
  } else {
    if (code_point < 0x10000) {
      put(0xE0 | code_point >> 12);
    } else {
      put(0xF0 | code_point >> 18);
      put(0x80 | (code_point >> 12 & 0x3F));
    }
    put(0x80 | (code_point >> 6 & 0x3F));
  }
  put(0x80 | (code_point & 0x3F));
}

}  // namespace farfield
