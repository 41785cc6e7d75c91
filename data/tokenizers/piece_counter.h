#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/piece_table.h"

namespace farfield::data {

/// Defines the pieces to count in a text, and where a text can be cut without changing the counts.
struct PieceRule {
  /// Adds the pieces of a text.
  std::function<void(std::string_view text, PieceTable& pieces)> count;
  /// As Tokenizer::cut().
  std::function<size_t(std::string_view text, size_t from)> cut;
};

/// Counts the pieces of texts, some MiB at a time side by side on the threads of parallel_for().
/// The counts do not depend on their number, and memory does not grow with the text: where
/// different pieces have more than most_bytes together, those seen least are dropped until half of
/// that is left, at places of the text that depend on nothing else.
class PieceCounter {
 public:
  static constexpr size_t kMostBytes = size_t{8} << 20;
  explicit PieceCounter(PieceRule rule, size_t most_bytes = kMostBytes);

  /// The next part of a text, in whole characters, and whether the text ends with it.
  void add(std::string_view part, bool is_last);
  /// The counts, once all texts have ended.
  const PieceTable& finish();
  /// Pieces that were dropped; one that came again and was dropped again counts twice.
  int64_t dropped() const { return dropped_; }

 private:
  // The work of one thread: parts of texts, one behind the other.
  struct Chunk {
    std::string text;
    std::vector<size_t> ends;
    PieceTable pieces;
  };
  void put(std::string_view text);
  void count();

  PieceRule rule_;
  size_t most_bytes_;
  std::vector<Chunk> chunks_;
  size_t n_full_ = 0;    // chunks before the one that is being filled
  std::string waiting_;  // of a text that has not ended
  PieceTable pieces_;
  int64_t dropped_ = 0;
};

}  // namespace farfield::data
