#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace farfield::data {

/// Number of first bytes that known_binary() needs.
inline constexpr size_t kBinaryBeginBytes = 300;

/// The kind of a file whose first bytes show that it is no text ("got a zip archive; unpack it
/// first"): compressed files, archives, documents, text in UTF-16. Empty if the bytes may be text.
std::string known_binary(std::string_view begin);

/// The same for bytes that contain a NUL: text in UTF-16 without a mark, or something else.
std::string found_with_nul(std::string_view bytes);

/// Whether the share of ill-formed UTF-8 sequences is too high for damaged text or text in a Latin
/// encoding: over one in five. A handful proves nothing.
constexpr bool is_mostly_invalid(int64_t n_invalid, size_t n_bytes) {
  return n_invalid >= 32 && n_invalid > static_cast<int64_t>(n_bytes / 5);
}

inline constexpr std::string_view kMostlyInvalid =
    "bytes of which most are not UTF-8; convert it first (iconv)";

/// "is not KIND (starts with ...)": the first bytes as text or as numbers, and their kind if
/// known_binary() knows it.
std::string not_of_kind(std::string_view kind, std::string_view begin);

/// IoError: `file` is refused as text. `found` describes the file, with a remedy; the message adds
/// the option that reads it all the same.
[[noreturn]] void refuse_binary(const std::string& file, std::string_view found);

}  // namespace farfield::data
