#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/bpe_definition.h"

namespace farfield::data {

/// The ids of a piece before any merge, where tokens are made of characters.
class CharacterIds {
 public:
  explicit CharacterIds(const BpeDefinition& definition);

  /// In place of `ids`: one for each character, several for one that is written as bytes, -1 for
  /// one without a token. A byte that is not UTF-8 counts as a character. Whether none is -1.
  bool find(std::string_view piece, std::vector<int32_t>& ids) const;

 private:
  std::vector<int32_t> of_code_points_;  // up to the last one that is a token; -1: none
  std::array<int32_t, 256> of_bytes_{};  // likewise
};

/// The text of ids of such tokens, as CharacterDecoder says.
class CharacterTexts {
 public:
  explicit CharacterTexts(const BpeDefinition& definition);

  /// At the start of a text, and within one. Ids are from 0 to n_vocab() - 1.
  std::string decode(std::span<const int32_t> ids) const;
  std::string decode_within(std::span<const int32_t> ids) const;

 private:
  CharacterDecoder decoder_;
  std::vector<std::string> texts_;  // by id; empty: none
};

/// The pattern to cut pieces with, which gives the same ids as the definition's and, where it can,
/// smaller pieces: merges of text without pieces cost more, and nothing is kept of them. No token
/// of SentencePiece has a blank behind anything but a blank, unless it was learned across words.
Pattern finest_pattern(const BpeDefinition& definition);

}  // namespace farfield::data
