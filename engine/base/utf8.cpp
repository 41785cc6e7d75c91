#include "engine/base/utf8.h"

#include <algorithm>
#include <cstring>

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
  size_t bad = find_invalid_utf8(text);
  if (bad == std::string::npos) return 0;
  int64_t count = 0;
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  size_t at = 0;
  for (; bad != std::string::npos; bad = find_invalid_from(text, at)) {
    result.append(text, at, bad - at);
    result += "\xEF\xBF\xBD";
    at = bad + step(std::string_view(text).substr(bad)).size;
    ++count;
  }
  result.append(text, at);
  text = std::move(result);
  return count;
}

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
