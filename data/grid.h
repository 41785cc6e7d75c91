#pragma once

#include <cstdint>

namespace farfield::data {

/// Places for pieces of `span` tokens in a row of tokens, one every `step`: from the row's begin
/// on, or where the row is documents of equal length that no piece may leave, from the begin of
/// each.
class Grid {
 public:
  /// For a row of `size` tokens. document_tokens > 0: the row consists of documents with so many
  /// tokens, each followed by the id that ends it, which is in no piece; 0: a piece may lie
  /// anywhere. span and step are at least 1.
  Grid(int64_t size, int64_t document_tokens, int64_t span, int64_t step);
  /// Windows of `length` inputs, each with the token behind it, one after another: the last token
  /// of one is the first of the next.
  static Grid windows(int64_t size, int64_t document_tokens, int64_t length);

  /// How many places there are; may be 0.
  int64_t size() const { return n_; }
  /// The first token of piece i, 0 <= i < size().
  int64_t operator[](int64_t i) const {
    return i / per_document_ * period_ + i % per_document_ * step_;
  }

 private:
  int64_t step_, period_, per_document_, n_;
};

}  // namespace farfield::data
