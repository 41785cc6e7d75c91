#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/tokenizer.h"

namespace farfield::data {

/// Settings that a tokenizer's file does not contain, or that override it.
struct TokenizerOptions {
  /// Strings such as <|endoftext|> in a text are ordinary text, not the special token: for
  /// untrusted text. Tokens that are added but not special are taken all the same.
  bool special_as_text = false;
  /// The token that ends a document; empty: <|endoftext|> or a token of a similar name, if there is
  /// one.
  std::string end_of_text = {};
  /// Its id instead, as recorded by a corpus made with the tokenizer.
  std::optional<int32_t> end_of_document = {};
  /// How a tiktoken rank file cuts text: gpt2 or cl100k_base.
  std::string pattern = {};
};

/// The tokenizer of a name (tokenizer_names(), or as UnknownTokenizer has it) or of a path: a
/// tokenizer.json of any file name, a folder with one or with vocab.json (encoder.json) and
/// merges.txt (vocab.bpe), one of these two, or a tiktoken rank file. ConfigError, with the nearest
/// known name, for a word that is neither; IoError, naming the file, if the file is damaged or
/// needs something that is not implemented.
TokenizerPtr make_tokenizer(const std::string& name_or_path, const TokenizerOptions& options = {});

/// The tokenizer of a text that Tokenizer::file() gave; `file` is used in messages. IoError.
TokenizerPtr read_tokenizer(const std::string& name, const std::string& file,
                            const std::string& text, const TokenizerOptions& options = {});

/// Names of the tokenizers that need no file.
std::vector<std::string> tokenizer_names();
/// The one of such a name; null for another.
TokenizerPtr built_in_tokenizer(std::string_view name);

}  // namespace farfield::data
