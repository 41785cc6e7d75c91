#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer.h"

namespace farfield::data {

/// Encodes texts, some MiB at a time side by side on the threads of parallel_for(), and hands out
/// their ids in the order in which the texts came: the same for any number of threads. Each text
/// goes to one of some rows of ids, such as the splits of a corpus.
class Encoder {
 public:
  using Take = std::function<void(size_t row, std::span<const int32_t> ids)>;
  /// A text that cannot be cut within `most_uncut` bytes is refused, since all of it would be in
  /// memory; 0: no limit.
  Encoder(const Tokenizer& tokenizer, size_t n_rows, Take take, int64_t most_uncut = 0);

  /// How a piece of text ends.
  enum class End {
    none,      ///< nothing: more of it comes
    part,      ///< the text, but not its document
    document,  ///< the id that ends a document
  };
  /// The next piece of a text, in whole characters. IoError for a text that is refused.
  void add(size_t row, std::string_view piece, End end);
  /// Passes on the rest, after the end of all texts.
  void flush();

 private:
  // The work of one thread: pieces of texts, one behind the other.
  struct Chunk {
    struct Piece {
      size_t row, end;  // end: in `text`
      bool ends_document;
    };
    std::string text;
    std::vector<Piece> pieces;
    std::vector<std::vector<int32_t>> ids;  // of each row
  };
  void put(size_t row, std::string_view text, bool ends_document);
  void cut(size_t row, bool is_whole);

  const Tokenizer& tokenizer_;
  Take take_;
  int64_t most_uncut_;
  std::vector<Chunk> chunks_;
  size_t n_full_ = 0;     // chunks before the one that is being filled
  std::string waiting_;   // of a text that has not ended
  size_t next_look_ = 0;  // size of waiting_ at which it is cut
};

}  // namespace farfield::data
