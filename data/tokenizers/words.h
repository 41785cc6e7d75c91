#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/tokenizer.h"
#include "data/tokenizers/make.h"
#include "data/tokenizers/piece_counter.h"
#include "data/tokenizers/token_ids.h"

namespace farfield::data {

/// A token for each word, as WikiText-103 is counted: words are separated by white space, and each
/// line end is the token </s>. <s> ends a document, since </s> does not; a word outside the
/// vocabulary is <unk>.
/// Source    counts as in fairseq's dictionaries
class WordsTokenizer final : public Tokenizer {
 public:
  /// <s> 0, <pad> 1, </s> 2, <unk> 3: written in a text as words of their own they are these ids,
  /// <unk> always, the others unless options.special_as_text.
  static constexpr int32_t kEndOfDocument = 0, kPadding = 1, kEndOfLine = 2, kUnknown = 3;

  /// Words by id, the four above first; different, not empty and without white space. ConfigError
  /// unless options.end_of_text is one of them or empty.
  WordsTokenizer(std::string name, std::vector<std::string> words, const TokenizerOptions& options);

  const std::vector<std::string>& words() const { return words_; }

  int64_t n_vocab() const override { return static_cast<int64_t>(words_.size()); }
  int32_t end_of_document() const override { return end_of_document_; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  /// Each word, <unk> among them, with a blank behind it; a line end for </s>.
  std::string decode(std::span<const int32_t> ids) const override;
  size_t cut(std::string_view text, size_t from) const override;

 private:
  std::vector<std::string> words_;
  TokenIds ids_;
  bool special_as_text_;
  int32_t end_of_document_;
};

/// The counted pieces: words of at most 1 KiB, and line ends as </s>.
PieceRule words_pieces();

/// The words seen most, by falling number, of those seen alike by their bytes, behind the special
/// ones; so many in all, or 0: no limit.
std::vector<std::string> learn_words(const PieceTable& pieces, int64_t vocab_size);

}  // namespace farfield::data
