#include "apps/cli/printable.h"

#include <algorithm>

#include "engine/base/utf8.h"

namespace farfield::cli {
namespace {

void escape(std::string_view bytes, std::string& out) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x") += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
}

// Bytes of the character at the start of valid UTF-8 that must not be printed; 0: it may be.
size_t unprintable_size(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x20) return text[0] == '\n' || text[0] == '\t' ? 0 : 1;
  if (byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && byte(1) < 0xA0) return 2;  // U+0080 to U+009F
  if (byte(0) == 0xE2 && byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) return 3;
  if (byte(0) == 0xE2 && byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9) return 3;
  return 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t valid = std::min(find_invalid_utf8(text), text.size());
    for (size_t at = 0; at < valid;) {
      const size_t size = unprintable_size(text.substr(at, valid - at));
      if (size == 0) {
        out += text[at++];
      } else {
        escape(text.substr(at, size), out);
        at += size;
      }
    }
    escape(text.substr(valid, 1), out);
    text.remove_prefix(std::min(valid + 1, text.size()));
  }
  return out;
}

}  // namespace farfield::cli
