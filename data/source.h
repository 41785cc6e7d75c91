#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "data/byte_reader.h"
#include "data/document.h"
#include "data/jsonl.h"
#include "engine/base/utf8.h"

namespace farfield::data {

/// One input as the user named it.
struct SourceRecord {
  std::string path;
  int64_t files = 0;
  int64_t size_bytes = 0;    ///< as stored, of the files that were read
  std::string hash;          ///< of these bytes; for a folder, of the names below it as well
  int64_t unread_files = 0;  ///< left when max_bytes was reached
};

/// The format of an input file.
enum class InputFormat {
  by_name,  ///< as its name ends, or as is_json_lines() finds; of a stream JSON Lines when its
            ///< first character is a brace
  text,     ///< one document
  jsonl,    ///< one a line
};

struct SourceOptions {
  /// Files and folders, read in this order; "-": standard input.
  std::vector<std::filesystem::path> inputs;
  /// For each input the part that it belongs to; inputs of one part follow one another. max_bytes
  /// holds for each part, and Document::part() returns it. Empty: all inputs are one part.
  std::vector<size_t> parts;
  /// FolderRequest::output.
  std::filesystem::path output;
  InputFormat format = InputFormat::by_name;
  /// Of a folder read only files whose name ends in one of these, with or without a leading dot
  /// ("h", ".jsonl.zst"); "none" stands for names without a dot. Empty: all files.
  std::vector<std::string> endings;
  JsonlOptions jsonl;
  bool drop_duplicates = false;  ///< keep the first of documents with the same text
  /// Cut the text off behind so many bytes and read no further, not even in a line; 0: no limit.
  /// With drop_duplicates a document is read whole, to tell whether it is one.
  int64_t max_bytes = 0;
  size_t most_in_memory = size_t{32} << 20;  ///< a longer document is spooled
  std::filesystem::path spool_folder;        ///< where; empty: where temporary files go
  /// Set from another thread: reading ends with Interrupted. May be null.
  const std::atomic<bool>* is_stopped = nullptr;
};

/// The documents of all inputs, one after another, each valid UTF-8 and not empty.
///
/// A file that ends in ".jsonl", ".jsonl.zst" or ".jsonl.gz", or begins as JSON Lines do, holds a
/// document per line; any other is one document, decompressed if it ends in ".zst" or ".gz";
/// SourceOptions::format says otherwise. A stream (is_stream()) is decompressed by its first bytes.
/// A folder stands for its files (files_of_folder()), without files that look binary. A file that
/// is named directly and looks binary is an error. The order is fixed: the same inputs give the
/// same documents.
class DocumentReader {
 public:
  /// ConfigError when an input does not exist, is neither text nor a folder or is named twice as a
  /// stream, or a folder has no matching file. IoError for an input that may not be read.
  explicit DocumentReader(SourceOptions options);

  /// The next document; false at the end. IoError for a file that cannot be read.
  bool next(Document& document);
  /// The same, all of it in memory, however long.
  bool next(std::string& text);

  const Skipped& skipped() const { return skipped_; }
  /// Bytes read so far and bytes of all inputs, as stored; the latter is 0 if unknown (a pipe). For
  /// showing progress, from any thread.
  int64_t bytes_read() const;
  int64_t bytes_total() const { return bytes_total_; }
  /// Records of the inputs, complete once next() has returned false.
  std::vector<SourceRecord> records() const;

 private:
  struct File {
    std::string name;  // below its folder; empty for an input that is a file
    size_t input;
  };
  // Findings so far about the current file.
  struct Current {
    std::string name;
    std::array<int64_t, 4> before = {};  // counts_of_lost() when it began
    bool has_valid = false;  // characters beyond ASCII, in text of which some was replaced
    bool is_open = false;
  };
  std::array<int64_t, 4> counts_of_lost() const;
  std::filesystem::path path_of(const File& file) const;
  size_t part_of(const File& file) const;
  void add_input(const std::filesystem::path& input);
  bool next_of_part(Document& document);
  bool next_any(DocumentBuilder& document, size_t wanted);
  bool next_of_file(const File& file, DocumentBuilder& document, size_t wanted);
  bool next_line(DocumentBuilder& document, size_t wanted);
  bool has_lines(const File& file, std::unique_ptr<ByteReader>& bytes);
  void add_text(std::string_view piece, Utf8Replacer& replacer, DocumentBuilder& document);
  void finish_text(Utf8Replacer& replacer, DocumentBuilder& document);
  void see_replaced(std::string_view text, int64_t n_replaced);
  void end_file();

  SourceOptions options_;
  std::vector<File> files_;
  std::deque<Tally> tallies_;          // one per input
  std::vector<SourceRecord> records_;  // likewise; hash and bytes are in the tally
  size_t next_file_ = 0;
  Current current_;
  std::unique_ptr<JsonlReader> lines_;  // of the file before next_file_, while it has more
  std::unordered_set<std::string> seen_;
  Spools spools_;
  Skipped skipped_;
  int64_t bytes_total_ = 0;
  size_t part_ = 0;
  int64_t text_bytes_ = 0;  // of the part
  bool is_full_ = false;    // the part has max_bytes
};

}  // namespace farfield::data
