#include "data/tokenizers/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "engine/base/utf8.h"

namespace farfield::data {
namespace {

constexpr uint32_t kCharacters = 0x144;  // the characters of the alphabet are below

constexpr bool prints(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct ByteCharacters {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, kCharacters> byte{};
};

constexpr ByteCharacters make_alphabet() {
  ByteCharacters a;
  for (int16_t& byte : a.byte) byte = -1;
  uint16_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint16_t c = prints(byte) ? static_cast<uint16_t>(byte) : next++;
    a.character[byte] = c;
    a.byte[c] = static_cast<int16_t>(byte);
  }
  return a;
}
constexpr ByteCharacters kAlphabet = make_alphabet();

}  // namespace

std::string bytes_to_characters(std::string_view bytes) {
  std::string characters;
  for (const char c : bytes)
    append_utf8(kAlphabet.character[static_cast<unsigned char>(c)], characters);
  return characters;
}

std::optional<std::string> characters_to_bytes(std::string_view characters) {
  std::string bytes;
  while (!characters.empty()) {
    const Utf8Sequence c = first_of_utf8(characters);
    if (!c.is_valid || c.code_point >= kCharacters || kAlphabet.byte[c.code_point] < 0) return {};
    bytes += static_cast<char>(kAlphabet.byte[c.code_point]);
    characters.remove_prefix(c.size);
  }
  return bytes;
}

bool is_byte_of_utf8(unsigned char byte) { return byte != 0xC0 && byte != 0xC1 && byte < 0xF5; }

}  // namespace farfield::data
