#include "data/binary.h"

#include <algorithm>

#include "engine/base/error.h"

namespace farfield::data {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::string_view magic;
  std::string_view found;  // what came, and a way out
  size_t at = 0;
};

constexpr Kind kKinds[] = {
    {"\x1f\x8b\x08"sv, "a gzip file; give it a name that ends in .gz and it is decompressed"},
    {"\x28\xb5\x2f\xfd"sv,
     "a Zstandard file; give it a name that ends in .zst and it is decompressed"},
    {"\xfd"
     "7zXZ\0"sv,
     "an xz file; decompress it first (xz -dk)"},
    {"BZh"sv, "a bzip2 file; decompress it first (bzip2 -dk)"},
    {"\x04\x22\x4d\x18"sv, "an LZ4 file; decompress it first (lz4 -dk)"},
    {"PK\x03\x04"sv, "a zip archive or an office document; unpack it first, or save it as text"},
    {"7z\xbc\xaf\x27\x1c"sv, "a 7z archive; unpack it first"},
    {"Rar!\x1a\x07"sv, "a RAR archive; unpack it first"},
    {"ustar"sv, "a tar archive; unpack it first and name the folder", 257},
    {"%PDF-"sv, "a PDF document; convert it to text first (pdftotext)"},
    {"PAR1"sv, "a Parquet file; write its rows as JSON Lines first"},
    {"ARROW1"sv, "an Arrow file; write its rows as JSON Lines first"},
    {"SQLite format 3\0"sv, "an SQLite database; write its rows as JSON Lines first"},
    {"\xff\xfe"sv, "text in UTF-16 or UTF-32; convert it first (iconv -f UTF-16 -t UTF-8)"},
    {"\xfe\xff"sv, "text in UTF-16; convert it first (iconv -f UTF-16 -t UTF-8)"},
};

// Three letters alone could begin a text: a bzip2 file goes on with its block size and a mark.
bool is_bzip2(std::string_view begin) {
  return begin.size() >= 10 && begin[3] >= '1' && begin[3] <= '9' &&
         (begin.substr(4, 6) == "1AY&SY" || begin.substr(4, 6) == "\x17rE8P\x90");
}

}  // namespace

std::string known_binary(std::string_view begin) {
  for (const Kind& kind : kKinds) {
    if (begin.size() < kind.at || !begin.substr(kind.at).starts_with(kind.magic)) continue;
    if (kind.magic == "BZh" && !is_bzip2(begin)) continue;
    return std::string(kind.found);
  }
  return "";
}

std::string found_with_nul(std::string_view bytes) {
  int64_t n[2] = {};  // NULs at even and at odd places
  const size_t size = std::min(bytes.size(), size_t{4096});
  for (size_t i = 0; i < size; ++i) n[i % 2] += bytes[i] == '\0';
  const auto pairs = static_cast<int64_t>(size / 2);
  // Most characters of a text are ASCII, or at least of one row of 256.
  constexpr int64_t kFewestPairs = 4;
  for (const int first : {0, 1})
    if (pairs >= kFewestPairs && n[first] > pairs / 2 && n[1 - first] <= pairs / 8)
      return concat("text in UTF-16; convert it first (iconv -f UTF-16", first == 0 ? "BE" : "LE",
                    " -t UTF-8)");
  return "a NUL byte, which no text holds";
}

std::string not_of_kind(std::string_view kind, std::string_view begin) {
  constexpr size_t kShown = 8;
  const std::string_view first = begin.substr(0, kShown);
  const bool is_text =
      std::all_of(first.begin(), first.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  std::string shown;
  for (const char c : first) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (is_text)
      shown += c;
    else
      shown += {' ', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  const std::string found = known_binary(begin);
  return concat("is not ", kind, " (starts with ",
                is_text ? concat('\'', shown, '\'') : concat("the bytes", shown), ')',
                found.empty() ? "; text takes a name with another ending" : ": it is " + found);
}

void refuse_binary(const std::string& file, std::string_view found) {
  fail<IoError>("data", file, ": expected text, got ", found,
                "; --allow-binary reads its bytes as text");
}

}  // namespace farfield::data
