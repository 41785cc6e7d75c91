#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "data/byte_reader.h"
#include "data/jsonl.h"

namespace farfield::data {

/// One input as the user named it.
struct SourceRecord {
  std::string path;
  int64_t files = 0;
  int64_t size_bytes = 0;  ///< as stored, of the files that were read
  std::string hash;        ///< of these bytes; for a folder, of the names below it as well
};

struct SourceOptions {
  std::vector<std::filesystem::path> inputs;  ///< files and folders, read in this order
  /// Of a folder only the files whose name ends in one of these, with or without a leading dot
  /// ("h", ".jsonl.zst"); "none" stands for names without a dot. Empty: all files.
  std::vector<std::string> endings;
  JsonlOptions jsonl;
  bool drop_duplicates = false;  ///< keep the first of documents with the same text
  int64_t max_bytes = 0;         ///< cut the text off behind so many bytes; 0: no limit
};

/// The documents of all inputs, one after another, each valid UTF-8 and not empty.
///
/// A file that ends in ".jsonl" or ".jsonl.zst" holds a document per line; any other is one
/// document, decompressed if it ends in ".zst". A folder stands for its files, at any depth, in the
/// order of their paths' bytes; entries with a leading dot and files with a NUL byte are left out,
/// links to folders are not followed. The order is fixed: the same inputs give the same documents.
class DocumentReader {
 public:
  /// ConfigError when an input does not exist or is neither file nor folder, or a folder has no
  /// matching file.
  explicit DocumentReader(SourceOptions options);

  /// The next document; false at the end. IoError for a file that cannot be read.
  bool next(std::string& text);

  const Skipped& skipped() const { return skipped_; }
  /// Compressed and uncompressed bytes read so far, and those of all inputs: for showing progress.
  int64_t bytes_read() const;
  int64_t bytes_total() const { return bytes_total_; }
  /// What was read, complete once next() has returned false.
  std::vector<SourceRecord> records() const;

 private:
  struct File {
    std::filesystem::path path;
    std::string name;  // below its folder; empty for an input that is a file
    size_t input;
  };
  bool next_any(std::string& text);
  bool next_of_file(const File& file, std::string& text);

  SourceOptions options_;
  std::vector<File> files_;
  std::vector<Tally> tallies_;         // one per input
  std::vector<SourceRecord> records_;  // likewise; hash and bytes are in the tally
  size_t next_file_ = 0;
  std::unique_ptr<JsonlReader> lines_;  // of the file before next_file_, while it has more
  std::unordered_set<std::string> seen_;
  Skipped skipped_;
  int64_t bytes_total_ = 0, text_bytes_ = 0;
  bool is_full_ = false;
};

}  // namespace farfield::data
