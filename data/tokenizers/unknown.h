#pragma once

#include <string_view>

#include "data/tokenizer.h"

namespace farfield::data {

/// For token files whose tokenizer cannot be read: the text of ids is unknown, and no token ends
/// documents unless one is named. The name is the definition: "ids:N", or "ids:N:E" with the id
/// that ends documents.
class UnknownTokenizer final : public Tokenizer {
 public:
  /// ConfigError unless 1 <= n_vocab <= kMostTokens, and the end is an id or kNone.
  explicit UnknownTokenizer(int64_t n_vocab, int64_t end_of_document = kNone);
  /// The one of such a name; null for another.
  static TokenizerPtr of_name(std::string_view name);

  int64_t n_vocab() const override { return n_vocab_; }
  int32_t end_of_document() const override { return end_of_document_; }
  bool has_text() const override { return false; }
  /// ConfigError: there is no text that it knows ids for.
  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  /// Nothing.
  std::string decode(std::span<const int32_t> ids) const override;
  size_t cut(std::string_view text, size_t from) const override;

 private:
  int64_t n_vocab_;
  int32_t end_of_document_;
};

}  // namespace farfield::data
