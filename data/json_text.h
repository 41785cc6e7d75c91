#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::data {

/// The value of a JSON object under one key.
struct JsonText {
  bool is_object = false;       ///< the line is one JSON object and nothing else
  size_t error_at = 0;          ///< otherwise: byte of the line where it stops being one
  bool has_text = false;        ///< a string, or a list of strings, stands under the key
  std::string text;             ///< unescaped; a list is joined with blank lines; may be ill-formed
                                ///< UTF-8 where the line is. Of a line that ends within it: what
                                ///< there is
  size_t begin = 0, end = 0;    ///< the value's bytes in the line
  bool has_subset = false;      ///< a string stands under "pile_set_name" in the object "meta"
  std::string subset;           ///< that string
  int64_t lone_surrogates = 0;  ///< escapes \ud800 to \udfff without partner, now U+FFFD
};

/// Takes the text out of a line of JSONL. Other values are checked for syntax and skipped, numbers
/// without being converted; any depth. The last of equal keys counts. Bytes that are not UTF-8 are
/// let through. The Pile's name of a subset is taken on the same way through the line.
JsonText json_text(std::string_view line, std::string_view key);

/// A key of a JSON object, and how many bytes of text stand under it: -1 for neither a string nor a
/// list of strings.
struct JsonKey {
  std::string name;
  int64_t text_bytes = -1;
};

/// The first `most` keys of the object, in its order. What cannot be read ends the list.
std::vector<JsonKey> json_keys(std::string_view line, size_t most);

}  // namespace farfield::data
