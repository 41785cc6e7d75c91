#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/pre_tokenizer.h"

namespace farfield::data {

/// A string that is split off from a text before anything else.
struct AddedToken {
  int32_t id = 0;
  std::string content;         ///< UTF-8
  bool is_special = false;     ///< TokenizerOptions::special_as_text makes it ordinary text
  bool is_normalized = false;  ///< searched in the normalised text, not in the original
};

enum class Normalizer { none, nfc };

/// A byte-level BPE tokenizer, as its files define it. Equal definitions give equal ids.
struct BpeDefinition {
  std::vector<std::string> tokens;  ///< bytes of each id; empty: no token, or one that is added
  struct Merge {
    int32_t left = 0, right = 0;
  };
  std::vector<Merge> merges;      ///< by rank; the joined bytes are a token too
  std::vector<AddedToken> added;  ///< by rising id; in `tokens` too only if merges make use of it
  Normalizer normalizer = Normalizer::none;
  Pattern pattern = Pattern::gpt2;
  bool add_prefix_space = false;  ///< in front of a text that begins without one
  bool ignore_merges = false;  ///< a piece that is a token is that token, whatever the merges say
  /// The id for each byte that no token has; -1: such a byte is an error. Set only if UTF-8 uses
  /// one of these bytes.
  int32_t unknown = -1;
  bool fuses_unknown = false;  ///< one such id for several bytes side by side
};

/// Ids of a vocabulary are below this: a small file cannot ask for much memory.
inline constexpr int32_t kMostTokens = 1 << 22;

/// The definition, once it is consistent: ids in range and each used once, tokens different, the
/// two parts and the result of each merge among the tokens. Sorts the added tokens, and ends
/// `tokens` with the last one. IoError, "[where] file: ...", otherwise.
BpeDefinition checked(BpeDefinition definition, std::string_view where, std::string_view file);

/// Whether each byte that UTF-8 uses has a token.
bool has_all_bytes(const BpeDefinition& definition);

}  // namespace farfield::data
