#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace farfield::data {

// The files of byte-level BPE write a token with one character for each of its bytes: bytes that
// print as the character of the same number, the other 68 as U+0100 and on.

/// Bytes as these files write them.
std::string bytes_to_characters(std::string_view bytes);
/// The bytes of such a string; none if a character is not in the alphabet.
std::optional<std::string> characters_to_bytes(std::string_view characters);

/// Whether UTF-8 uses the byte: all but C0, C1 and F5 to FF.
bool is_byte_of_utf8(unsigned char byte);

}  // namespace farfield::data
