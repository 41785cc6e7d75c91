#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/file.h"
#include "engine/base/hash.h"

namespace farfield::data {

// A row of token ids in a file, with a header of 64 bytes; the layout is in corpus.md.

/// What the header says about the tokens.
struct TokenCounts {
  int64_t tokens = 0;
  int64_t documents = 0;  ///< whole documents, and the pieces of documents cut at its ends
  int64_t bytes = 0;      ///< of the text in UTF-8, without what ends a document
};

/// A token file mapped for reading. Copies share the mapping.
class TokenFile {
 public:
  /// Checks everything, each token and the hash too, in one pass over the file. IoError, naming the
  /// file, for anything that is not as a TokenWriter leaves it.
  static TokenFile open(const std::filesystem::path& path);

  int64_t size() const { return counts_.tokens; }
  /// Ids are below this.
  int64_t n_vocab() const { return n_vocab_; }
  const TokenCounts& counts() const { return counts_; }
  double bytes_per_token() const {
    return static_cast<double>(counts_.bytes) / static_cast<double>(counts_.tokens);
  }
  /// XXH3-128 of the tokens' bytes.
  const std::string& hash() const { return hash_; }

  int32_t operator[](int64_t i) const;
  /// Where token i stands in the file.
  int64_t offset_bytes(int64_t i) const;
  /// Tokens [begin, begin + n) to out. ConfigError when they are not all there.
  void copy(int64_t begin, int64_t n, int32_t* out) const;

 private:
  TokenFile() = default;

  std::shared_ptr<const MappedFile> file_;
  const std::byte* tokens_ = nullptr;
  int width_ = 2;  // bytes of a token
  int64_t n_vocab_ = 0;
  TokenCounts counts_;
  std::string hash_;
};

/// Writes a token file, a document at a time; it appears at commit().
class TokenWriter {
 public:
  TokenWriter(const std::filesystem::path& path, int64_t n_vocab);

  /// ConfigError for an id outside [0, n_vocab).
  void append(std::span<const int32_t> ids);
  /// A document, or a piece of one, of so many bytes of text has been appended.
  void count_document(int64_t bytes);
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
