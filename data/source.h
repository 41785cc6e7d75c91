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
  /// Cut the text off behind so many bytes and read no further, not even in a line; 0: no limit.
  /// With drop_duplicates a document is read whole, to tell whether it is one.
  int64_t max_bytes = 0;
};

/// The documents of all inputs, one after another, each valid UTF-8 and not empty.
///
/// A file that ends in ".jsonl", ".jsonl.zst" or ".jsonl.gz" holds a document per line; any other
/// is one document, decompressed if it ends in ".zst" or ".gz". A folder stands for its files, at
/// any depth, in the order of their paths' bytes; entries with a leading dot and files that look
/// binary are left out, links to folders are not followed. A file that was named itself and looks
/// binary is an error. The order is fixed: the same inputs give the same documents.
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
  bool next_any(std::string& text, size_t wanted);
  bool next_of_file(const File& file, std::string& text, size_t wanted);

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
