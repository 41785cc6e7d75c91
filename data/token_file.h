#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/split.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"

namespace farfield::data {

// A row of token ids in a file, with a header of 64 bytes; the layout is in corpus.md.

/// Maps a token file and checks its header: IoError, naming the file, if the file is not as a
/// TokenWriter leaves it. Ids and hash are not checked: see Corpus::verify().
Split open_token_file(const std::filesystem::path& path);

/// Writes a token file, a document at a time; it appears at commit().
class TokenWriter {
 public:
  TokenWriter(const std::filesystem::path& path, int64_t n_vocab);

  /// ConfigError for an id outside [0, n_vocab).
  void append(std::span<const int32_t> ids);
  /// A document, or a piece of one, of so many bytes of text has been appended.
  void count_document(int64_t bytes) { count(1, bytes); }
  /// Several, of so many bytes together.
  void count(int64_t documents, int64_t bytes);
  const TokenCounts& counts() const { return counts_; }
  /// Returns the hash.
  std::string commit();

 private:
  AtomicFile file_;
  int64_t n_vocab_;
  Hasher hasher_;
  TokenCounts counts_;
  std::vector<char> packed_;
};

}  // namespace farfield::data
