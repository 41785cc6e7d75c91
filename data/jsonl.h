#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/byte_reader.h"
#include "data/skipped.h"

namespace farfield::data {

struct JsonlOptions {
  std::string text_key = "text";
  bool is_strict = false;       ///< invalid UTF-8 is an error, not replaced
  bool skip_bad_lines = false;  ///< count lines that are not JSON, instead of an error
};

/// The documents of JSON Lines: one object a line, its text a string or a list of strings (joined
/// with a blank line). Lines of any length; blank lines and a byte-order mark at the start are
/// passed over.
///
/// Throws IoError, naming the file and the line.
class JsonlReader {
 public:
  JsonlReader(std::unique_ptr<ByteReader> bytes, std::string file, JsonlOptions options);

  /// The next document that is not empty, in valid UTF-8; false at the end. What was passed over is
  /// added to `skipped`.
  bool next(std::string& text, Skipped& skipped);

 private:
  bool next_line();

  std::unique_ptr<ByteReader> bytes_;
  std::string file_;
  JsonlOptions options_;
  std::vector<char> block_;
  size_t begin_ = 0, end_ = 0;  // what is left of the block
  std::string line_;
  int64_t line_number_ = 0;
  int64_t line_offset_ = 0, offset_ = 0;  // bytes before this line, and before the next
};

}  // namespace farfield::data
