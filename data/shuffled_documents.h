#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/tokens.h"

namespace farfield::data {

/// The documents of a token file in an order that a seed chooses, joined into one row of tokens:
/// each with the token that ends it. What stands behind the last such token stays last.
/// O(documents) of memory; copies share it.
class ShuffledDocuments {
 public:
  /// `begins` as Corpus::document_begins() returns it.
  ShuffledDocuments(Tokens tokens, const std::vector<int64_t>& begins, uint64_t seed);

  int64_t size() const { return tokens_.size(); }
  /// Documents that have an end. With fewer than 2 every seed gives the order of the file.
  int64_t documents() const;
  /// Tokens [begin, begin + n) to out. ConfigError when they are not all there.
  void copy(int64_t begin, int64_t n, int32_t* out) const;
  /// The place in the file, 0 <= place < size(), of token `at` of the row. ConfigError when there
  /// is no such token.
  int64_t place(int64_t at) const;

 private:
  struct Document {
    int64_t at;    // its first token's place in the row
    int64_t from;  // and in the file
  };

  Tokens tokens_;
  std::shared_ptr<const std::vector<Document>> order_;  // by `at`, with a last one that has no end
};

}  // namespace farfield::data
