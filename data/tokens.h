#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/file.h"

namespace farfield::data {

/// How an id is stored: little-endian.
enum class IdType { u8, i8, i16, u16, i32, u32, i64 };

/// Bytes of an id.
int size_of(IdType type);

/// A row of token ids in mapped files, one after another: a split of a corpus in any format. Copies
/// and slices share the mappings.
class Tokens {
 public:
  /// Ids in a file: `n` of them from byte `begin` on.
  struct Piece {
    std::shared_ptr<const MappedFile> file;
    std::string name;  ///< of the file, in messages
    int64_t begin = 0;
    int64_t n = 0;
  };
  /// Called with the number of checked tokens; may throw to stop.
  using Watch = std::function<void(int64_t n)>;

  Tokens() = default;
  /// IoError, naming the file, for an incomplete piece. Does not check the ids.
  Tokens(std::vector<Piece> pieces, IdType type, int64_t n_vocab);

  int64_t size() const { return begins_.empty() ? 0 : begins_.back(); }
  /// Ids are below this.
  int64_t n_vocab() const { return n_vocab_; }
  IdType type() const { return type_; }

  int32_t operator[](int64_t i) const;
  /// Tokens [begin, begin + n) to out. ConfigError if the range is not within the row; IoError,
  /// naming the file and the byte, for an id outside [0, n_vocab()): the file is damaged, or of
  /// another tokenizer.
  void copy(int64_t begin, int64_t n, int32_t* out) const;
  /// Tokens [begin, begin + n) as a separate row. ConfigError if the range is not within the row.
  Tokens slice(int64_t begin, int64_t n) const;

  /// Where a token is stored.
  struct Place {
    std::string file;
    int64_t byte = 0;
  };
  Place place(int64_t i) const;

  /// XXH3-128 of the ids' bytes as stored; checks each id: IoError as copy().
  std::string hash(const Watch& watch = {}) const;

 private:
  void check_range(int64_t begin, int64_t n) const;
  size_t piece_of(int64_t i) const;  // the piece that token i is in

  std::vector<Piece> pieces_;
  std::vector<int64_t> begins_;  // of each piece, and the end of the last
  IdType type_ = IdType::u16;
  int64_t n_vocab_ = 0;
};

/// The first token of each document, and at the end the first token after the last document end: n
/// + 1 numbers for n documents that have an end. Reads all tokens.
std::vector<int64_t> document_begins(const Tokens& tokens, int32_t end_of_document);

}  // namespace farfield::data
