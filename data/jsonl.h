#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/byte_reader.h"
#include "data/json_text.h"
#include "data/skipped.h"

namespace farfield::data {

struct JsonlOptions {
  std::string text_key = "text";
  bool is_strict = false;       ///< invalid UTF-8 is an error, not replaced
  bool skip_bad_lines = false;  ///< count lines that are not JSON, instead of an error
  bool allow_binary = false;    ///< read what looks binary, instead of an error
  /// Only documents whose "meta" has one of these under "pile_set_name", as the Pile names its
  /// parts; the others are counted. Empty: all.
  std::vector<std::string> subsets;
  /// A longer line is an error, and no more of it gets into memory; 0: any length.
  int64_t max_line_bytes = int64_t{256} << 20;
};

/// The documents of JSON Lines: one object a line, its text a string or a list of strings (joined
/// with a blank line). Blank lines and a byte-order mark at the start are passed over.
///
/// Throws IoError, naming the file and the line.
class JsonlReader {
 public:
  JsonlReader(std::unique_ptr<ByteReader> bytes, std::string file, JsonlOptions options);

  /// The next document that is not empty, in valid UTF-8; false at the end. What was passed over is
  /// added to `skipped`.
  ///
  /// If only the first `wanted` bytes are needed, a line of more than 1 MiB is read only up to
  /// there: the text ends a little behind them, the rest of the line is not checked, and nothing
  /// can be read afterwards.
  bool next(std::string& text, Skipped& skipped, size_t wanted = SIZE_MAX);
  /// The same, but ill-formed sequences of UTF-8 stay and are not counted: for a text that is too
  /// long to replace them in memory.
  bool next_raw(std::string& text, Skipped& skipped, size_t wanted = SIZE_MAX);

 private:
  bool is_wanted_subset(const JsonText& found, Skipped& skipped) const;
  bool next_line(size_t wanted);
  bool fill_block();
  void blank_byte_order_mark();
  void check_utf8(const JsonText& found) const;
  bool has_wanted(size_t wanted);

  std::unique_ptr<ByteReader> bytes_;
  std::string file_;
  JsonlOptions options_;
  std::vector<char> block_;
  size_t begin_ = 0, end_ = 0;  // the rest of the block
  std::string line_;
  size_t next_look_ = 0;  // size of the line at which has_wanted() looks again
  JsonText cut_;          // of a line that is read no further
  bool is_cut_ = false;
  int64_t line_number_ = 0;
  int64_t line_offset_ = 0, offset_ = 0;  // bytes before this line, and before the next
};

/// The message of a reader about objects without text under the key: their number, their keys, and
/// which key to try. Empty without such objects.
std::string missing_text_hint(const Skipped& skipped, const std::string& text_key);

/// The message of a reader about requested subsets that it never saw, with the nearest subset that
/// it did see. Empty if it saw all.
std::string missing_subsets_hint(const Skipped& skipped, const std::vector<std::string>& subsets);

}  // namespace farfield::data
