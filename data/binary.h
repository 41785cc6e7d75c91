#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace farfield::data {

/// So many of the first bytes show known_binary() all that it looks for.
inline constexpr size_t kBinaryBeginBytes = 300;

/// What bytes are that begin so, when their first ones say that they are no text ("got a zip
/// archive; unpack it first"): compressed files, archives, documents, text in UTF-16. Empty when
/// nothing is known against them.
std::string known_binary(std::string_view begin);

/// The same of bytes with a NUL among them: text in UTF-16 without a mark, or something else.
std::string found_with_nul(std::string_view bytes);

/// Whether so many ill-formed sequences of UTF-8 in so many bytes are more than
/// text has that was damaged or written in a Latin encoding: one in five. A handful says nothing.
constexpr bool is_mostly_invalid(int64_t n_invalid, size_t n_bytes) {
  return n_invalid >= 32 && n_invalid > static_cast<int64_t>(n_bytes / 5);
}

inline constexpr std::string_view kMostlyInvalid =
    "bytes of which most are not UTF-8; convert it first (iconv)";

/// "is not KIND (starts with ...)": the first bytes as text or as numbers, and what they are where
/// known_binary() knows.
std::string not_of_kind(std::string_view kind, std::string_view begin);

/// IoError: `file` is refused as text; `found` says what came, with a way out beside the option
/// that reads it all the same.
[[noreturn]] void refuse_binary(const std::string& file, std::string_view found);

}  // namespace farfield::data
