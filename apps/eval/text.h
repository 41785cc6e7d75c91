#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/grid.h"

namespace farfield::eval {

/// The text that a protocol reads.
struct TokenStream {
  int64_t size = 0;
  std::function<void(int64_t begin, int64_t n, int32_t* out)> copy;
  /// The text that ids stand for; empty where no tokenizer is known.
  std::function<std::string(std::span<const int32_t> ids)> decode;
  /// Tokenizer::encode(); empty where no tokenizer is known, or where it knows numbers alone.
  std::function<void(std::string_view text, std::vector<int32_t>& ids)> encode;
  int32_t end_of_document = -1;  ///< the id behind each document; -1: none, or not known
  /// Corpus::document_tokens(): if it is not 0, no segment, chunk or sequence leaves a document.
  int64_t document_tokens = 0;
  int64_t n_vocab = 0;  ///< ids of the tokenizer are below it; 0: not known
  /// Bytes of the UTF-8 text that n tokens stand for; empty where no tokenizer is known.
  std::function<int64_t(int64_t begin, int64_t n)> count_bytes;
  /// The place of token i in the `.tokens` file of the split, counted from 0. Empty: not known.
  std::function<int64_t(int64_t i)> place;
  std::string id;  ///< tells texts apart: hash of the data, the split, the order of documents
};

/// Reads n tokens. IoError [eval:<protocol>] bad_token, with the position, for an id that is not
/// below vocab_size.
void read_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                 int64_t begin, int64_t n, int32_t* out);
/// Checks n tokens as read_tokens() does and keeps none: for protocols that read batch by batch, so
/// that the error names a bad token before anything is scored.
void check_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                  int64_t begin, int64_t n);

/// The beginning of a text, without lines and without bytes that a terminal cannot show.
std::string shown_text(std::string text);

/// Windows of `length` inputs, and the token behind each, in the first `size` tokens of a text, one
/// after another. No window leaves a document if the text has document_tokens.
data::Grid windows_of(const TokenStream& text, int64_t size, int64_t length);

/// For ProtocolResult::parameters: " documents=4096" if nothing may leave a document, else "".
std::string documents_text(const TokenStream& text);

/// The size of a text, for messages: "5000", or "5000 in documents of 4096".
std::string size_text(const TokenStream& text);

/// A set of tokens of a text, by their places.
class TokenSet {
 public:
  void add(int64_t begin, int64_t n);
  int64_t size() const;
  /// LengthResult::tokens: a function of the text and the set, not of the order of add().
  std::string name(const TokenStream& text) const;
  /// Bytes of text for each of them, on average; 0: not known.
  double bytes_per_token(const TokenStream& text) const;

 private:
  mutable std::vector<std::pair<int64_t, int64_t>> ranges_;  // [begin, end), merged when asked for
  void merge() const;
};

}  // namespace farfield::eval
