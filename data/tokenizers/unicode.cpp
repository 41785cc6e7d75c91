#include "data/tokenizers/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "data/tokenizers/unicode_tables.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

constexpr uint32_t kCodePoints = 0x110000;

// Properties of a code point for normalisation, besides its class.
constexpr uint8_t kClassBits = 3;
// Nothing before it composes or changes places with it: a text may be cut in front of it.
constexpr uint8_t kBegins = 4;
// Begins, and is its own NFC.
constexpr uint8_t kStays = 8;
// Of normalized(): nothing composes or changes places across any other.
constexpr uint8_t kTakesPart = 16;
constexpr uint8_t kInWord = 32;

constexpr uint32_t kLastSpace = 0x3000;
bool is_white_space(uint32_t c) {
  return (c >= 0x9 && c <= 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == kLastSpace;
}

// Canonical decomposition of a code point, behind what is in `to`.
void decompose(uint32_t c, std::vector<utf8proc_int32_t>& to) {
  std::array<utf8proc_int32_t, 32> parts{};  // the longest have 4
  const auto n = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(c), parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE), nullptr);
  if (n < 0 || static_cast<size_t>(n) > parts.size())
    fail<BackendError>("unicode", "expected the decomposition of a code point, got ",
                       n < 0 ? utf8proc_errmsg(n) : "a longer one");
  to.insert(to.end(), parts.begin(), parts.begin() + n);
}

int combining_class(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

void order(std::vector<utf8proc_int32_t>& text) {
  for (auto begin = text.begin(); begin != text.end();) {
    if (combining_class(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end =
        std::find_if(begin, text.end(), [](auto c) { return combining_class(c) == 0; });
    std::stable_sort(begin, end,
                     [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

// From the decompositions of code points to their NFC.
void compose(std::vector<utf8proc_int32_t>& text) {
  order(text);
  const auto n =
      utf8proc_normalize_utf32(text.data(), static_cast<utf8proc_ssize_t>(text.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (n < 0) fail<BackendError>("unicode", "expected a text to compose, got ", utf8proc_errmsg(n));
  text.resize(static_cast<size_t>(n));
}

// One byte for each code point: a lookup is a load.
class Table {
 public:
  Table() : flags_(kCodePoints, kBegins | kStays) {
    fill(letters(), CharClass::letter);
    fill(numbers(), CharClass::number);
    for (const auto& [first, last] : in_words())
      for (uint32_t c = first; c <= last; ++c) flags_[c] |= kInWord;
    for (uint32_t c = 0; c <= kLastSpace; ++c)
      if (is_white_space(c)) flags_[c] |= static_cast<uint8_t>(CharClass::space);

    std::vector<bool> is_second(kCodePoints);
    // Hangul vowels and tails that compose. U+11A7, between them, does not; version 2.8 of the
    // library drops it behind a syllable, so it must never stand there.
    for (uint32_t c = 0x1161; c <= 0x1175; ++c) is_second[c] = true;
    for (uint32_t c = 0x11A8; c <= 0x11C2; ++c) is_second[c] = true;
    std::vector<utf8proc_int32_t> parts;
    for_each_normalized([&](uint32_t c) {
      if (!has_decomposition(c)) return;
      parts.clear();
      decompose(c, parts);
      if (parts.size() > 1) is_second[static_cast<size_t>(parts.back())] = true;
    });
    for_each_normalized([&](uint32_t c) {
      const auto self = static_cast<utf8proc_int32_t>(c);
      parts.assign(1, self);
      if (has_decomposition(c)) {
        parts.clear();
        decompose(c, parts);
      }
      const bool begins = !is_second[c] && combining_class(self) == 0 &&
                          !is_second[static_cast<size_t>(parts.front())] &&
                          combining_class(parts.front()) == 0;
      if (begins && parts.size() > 1) compose(parts);
      const bool stays = begins && parts.size() == 1 && parts.front() == self;
      flags_[c] = static_cast<uint8_t>((flags_[c] & (kClassBits | kInWord)) | kTakesPart |
                                       (begins ? kBegins : 0) | (stays ? kStays : 0));
    });
  }
  uint8_t operator[](uint32_t c) const { return flags_[c]; }

 private:
  void fill(std::span<const CodePointRange> ranges, CharClass type) {
    for (const auto& [first, last] : ranges)
      for (uint32_t c = first; c <= last; ++c) flags_[c] |= static_cast<uint8_t>(type);
  }
  template <class F>
  static void for_each_normalized(const F& f) {
    for (const auto& [first, last] : normalized())
      for (uint32_t c = first; c <= last; ++c) f(c);
  }
  static bool has_decomposition(uint32_t c) {
    return c >= 0xC0 &&
           utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->decomp_seqindex != UINT16_MAX;
  }

  std::vector<uint8_t> flags_;
};

const Table& table() {
  static const Table the_table;
  return the_table;
}

constexpr std::array<CharClass, 128> make_ascii() {
  std::array<CharClass, 128> classes{};
  for (size_t c = 0; c < classes.size(); ++c) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_space = (c >= 0x9 && c <= 0xD) || c == ' ';
    classes[c] = is_letter              ? CharClass::letter
                 : c >= '0' && c <= '9' ? CharClass::number
                 : is_space             ? CharClass::space
                                        : CharClass::other;
  }
  return classes;
}
constexpr std::array<CharClass, 128> kAscii = make_ascii();

// The first byte from `at` on that may begin a code point from U+0300 on: below that all stays.
size_t skip_what_stays(std::string_view text, size_t at) {
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0xCC) ++at;
  return at;
}

// Where the text has to be looked at code point by code point: [begin, end) begins with one that
// begins, and holds one that does not stay. Empty at the end of the text.
struct Region {
  size_t begin, end;
};

Region next_region(std::string_view text, size_t at) {
  const Table& flags = table();
  size_t begin = at;  // of the last code point that begins
  while (at < text.size()) {
    const size_t next = skip_what_stays(text, at);
    if (next > at) {
      begin = next - 1;
      // A skipped character has at most two bytes; a second byte without its first counts as
      // itself.
      if (begin > at && first_of_utf8(text.substr(begin - 1)).size == 2) --begin;
      at = next;
      continue;
    }
    const Utf8Sequence here = first_of_utf8(text.substr(at));
    const uint8_t f = here.is_valid ? flags[here.code_point] : kBegins | kStays;
    if ((f & kBegins) != 0) begin = at;
    at += here.size;
    if ((f & kStays) != 0) continue;
    while (at < text.size()) {
      const Utf8Sequence follower = first_of_utf8(text.substr(at));
      if (!follower.is_valid || (flags[follower.code_point] & kBegins) != 0) break;
      at += follower.size;
    }
    return {begin, at};
  }
  return {text.size(), text.size()};
}

}  // namespace

CharClass class_of(uint32_t code_point) {
  if (code_point < kAscii.size()) return kAscii[code_point];
  if (code_point >= kCodePoints) return CharClass::other;
  return static_cast<CharClass>(table()[code_point] & kClassBits);
}

Symbol symbol_at(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < kAscii.size()) return {kAscii[first], 1};
  const Utf8Sequence here = first_of_utf8(text.substr(at));
  if (!here.is_valid) return {CharClass::other, 1};
  return {class_of(here.code_point), here.size};
}

Symbol symbol_before(std::string_view text, size_t at) {
  size_t begin = at - 1;
  while (begin > 0 && at - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
    --begin;
  const Symbol symbol = symbol_at(text, begin);
  if (begin + symbol.size == at) return symbol;
  return {CharClass::other, 1};  // of a byte that is no UTF-8
}

bool is_within_word(std::string_view text, size_t begin, size_t end) {
  const auto is_in_word = [&](size_t at) {
    const Utf8Sequence c = first_of_utf8(text.substr(at));
    return c.is_valid && (table()[c.code_point] & kInWord) != 0;
  };
  return (begin > 0 && is_in_word(begin - symbol_before(text, begin).size)) ||
         (end < text.size() && is_in_word(end));
}

size_t space_before(std::string_view text, size_t end, size_t least) {
  while (end > least) {
    const Symbol s = symbol_before(text, end);
    if (s.type != CharClass::space) break;
    end -= s.size;
  }
  return end;
}

size_t space_behind(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const Symbol s = symbol_at(text, begin);
    if (s.type != CharClass::space) break;
    begin += s.size;
  }
  return begin;
}

std::string nfc(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  std::vector<utf8proc_int32_t> parts;
  for (size_t at = 0; at < text.size();) {
    const Region region = next_region(text, at);
    result.append(text, at, region.begin - at);
    parts.clear();
    // A region may begin with what takes no part, which the text before it ends with: bytes that
    // are no UTF-8, or a code point.
    size_t i = region.begin;
    while (i < region.end) {
      const Utf8Sequence here = first_of_utf8(text.substr(i));
      if (here.is_valid && (table()[here.code_point] & kTakesPart) != 0)
        decompose(here.code_point, parts);
      else
        result.append(text, i, here.size);
      i += here.size;
    }
    compose(parts);
    for (const utf8proc_int32_t c : parts) append_utf8(static_cast<uint32_t>(c), result);
    at = region.end;
  }
  return result;
}

}  // namespace farfield::data
