#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/spool.h"
#include "engine/base/hash.h"

namespace farfield::data {

/// A text of any length, in valid UTF-8: in memory or, if it is long, in a Spool. Copies of a
/// spooled document share it.
class Document {
 public:
  Document() = default;
  explicit Document(std::string text) : text_(std::move(text)), size_(text_.size()) {}
  /// The text in the spool from `begin` on, with hash64() `hash`.
  Document(std::shared_ptr<const Spool> spool, int64_t begin, size_t size, uint64_t hash)
      : spool_(std::move(spool)), begin_(begin), size_(size), hash_(hash) {}

  size_t size() const { return size_; }
  bool in_memory() const { return spool_ == nullptr; }
  /// The part of the inputs that the document comes from (SourceOptions::parts).
  size_t part() const { return part_; }
  void set_part(size_t part) { part_ = part; }
  /// hash64() of the text.
  uint64_t hash() const { return in_memory() ? hash64(text_) : hash_; }

  /// Passes the text on in order, in blocks of whole characters: in one block if it is in memory.
  void read(const std::function<void(std::string_view)>& take) const;
  /// All of it, whatever its length. Leaves nothing behind.
  std::string take_text();

 private:
  std::string text_;
  std::shared_ptr<const Spool> spool_;
  int64_t begin_ = 0;
  size_t size_ = 0;
  uint64_t hash_ = 0;
  size_t part_ = 0;
};

/// The spools of documents in progress. Several, so that the disk holds only documents that are
/// still needed.
class Spools {
 public:
  explicit Spools(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// A spool to write to: an unused one if it exists.
  std::shared_ptr<Spool> one();
  /// The document, out of memory.
  Document put(const Document& document);

 private:
  std::filesystem::path folder_;
  std::vector<std::shared_ptr<Spool>> spools_;
};

/// Makes a document of pieces of text.
class DocumentBuilder {
 public:
  struct Limits {
    size_t most_in_memory = SIZE_MAX;  ///< a longer text is spooled
    size_t most_kept = SIZE_MAX;       ///< of the text; cut between characters
    bool wants_content = false;        ///< content() will be asked for
  };
  DocumentBuilder(Spools& spools, const Limits& limits) : spools_(&spools), limits_(limits) {}

  /// Whole characters.
  void append(std::string_view text);
  /// A whole text at once.
  void set(std::string text);

  /// Bytes of all text, kept or not.
  size_t size() const { return size_; }
  /// hash_hex() of all text.
  std::string content() const { return content_.hex(); }
  Document finish();
  /// Forgets all of it.
  void clear();

 private:
  void see(std::string_view text);

  Spools* spools_;
  Limits limits_;
  Hasher content_;
  size_t size_ = 0;
  std::string text_;  // while it is in memory
  std::shared_ptr<Spool> spool_;
  int64_t begin_ = 0;
  size_t n_spooled_ = 0;
  Hasher64 hasher_;  // of the spooled text
};

}  // namespace farfield::data
