#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/tokenizers/bpe.h"

namespace farfield::data {

/// A vocabulary that needs no file: the id of a byte is the byte, then "he", "ll", "hell", "hello",
/// " w", "or", "ld", " wor", " world", and 300 for <|endoftext|>.
inline BpeDefinition hello_definition() {
  BpeDefinition d;
  for (int byte = 0; byte < 256; ++byte) d.tokens.emplace_back(1, static_cast<char>(byte));
  const std::initializer_list<std::pair<std::string, std::string>> merges = {
      {"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}, {" ", "w"},
      {"o", "r"}, {"l", "d"}, {" w", "or"}, {" wor", "ld"}};
  const auto id_of = [&](const std::string& token) {
    return static_cast<int32_t>(std::find(d.tokens.begin(), d.tokens.end(), token) -
                                d.tokens.begin());
  };
  for (const auto& [left, right] : merges) {
    d.merges.push_back({id_of(left), id_of(right)});
    d.tokens.push_back(left + right);
  }
  d.added = {{300, "<|endoftext|>", true, false}};
  return d;
}

inline BpeTokenizer tokenizer_of(BpeDefinition definition, const TokenizerOptions& options = {}) {
  return {"hello", checked(std::move(definition), "test", "hello"), options};
}

inline std::vector<int32_t> ids_of(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int32_t> ids;
  tokenizer.encode(text, ids);
  return ids;
}

using Ids = std::vector<int32_t>;

}  // namespace farfield::data
