#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizers/blanks.h"
#include "data/tokenizers/pre_tokenizer.h"

namespace farfield::data {

/// A string that is split off from a text before anything else.
struct AddedToken {
  int32_t id = 0;
  std::string content;          ///< UTF-8
  bool is_special = false;      ///< TokenizerOptions::special_as_text makes it ordinary text
  bool is_normalized = false;   ///< searched in the normalised text, not in the original
  bool is_single_word = false;  ///< not beside a letter, mark, digit or low line
  bool strips_left = false;     ///< takes the white space before it along
  bool strips_right = false;    ///< takes the white space behind it along
};

enum class Normalizer { none, nfc };

/// What the tokens are made of, and so what a piece of text is before any merge.
enum class Alphabet {
  bytes,
  characters,  ///< as SentencePiece has it; each with a token, or else as bytes or the unknown one
};

/// How ids of an alphabet of characters become text, besides putting their tokens in a row. The
/// alphabet of bytes needs nothing else.
struct CharacterDecoder {
  bool unmarks_blanks = false;  ///< a marked blank is a blank
  bool joins_bytes = false;     ///< <0x0A> is the byte 10
  enum class Start {
    as_it_is,
    without_blank,   ///< one blank less where the text begins with one
    without_blanks,  ///< the first token has none, wherever it had them
  };
  Start start = Start::as_it_is;
};

/// A BPE tokenizer, as its files define it. Equal definitions give equal ids.
struct BpeDefinition {
  /// Of each id, as bytes; with the alphabet of characters, as files write it. Empty: no token, or
  /// one that is added.
  std::vector<std::string> tokens;
  struct Merge {
    int32_t left = 0, right = 0;
  };
  std::vector<Merge> merges;      ///< by rank; the joined bytes are a token too
  std::vector<AddedToken> added;  ///< by rising id; in `tokens` too only if merges make use of it
  Normalizer normalizer = Normalizer::none;
  Pattern pattern = Pattern::gpt2;
  bool add_prefix_space = false;  ///< in front of a text that begins without one
  bool ignore_merges = false;  ///< a piece that is a token is that token, whatever the merges say
  /// The id for each byte or character that no token has; -1: such a one is an error. Set only if
  /// there is one that a text in UTF-8 can have.
  int32_t unknown = -1;
  bool fuses_unknown = false;  ///< one such id for several of them side by side

  /// What a model expects in front of a text and behind it; see Tokenizer::begin_of_text().
  std::vector<int32_t> begin_of_text, end_of_text;

  Alphabet alphabet = Alphabet::bytes;
  // Of an alphabet of characters alone:
  bool falls_back_to_bytes = false;  ///< the tokens <0x00> to <0xFF> for a character without one
  BlankRule blanks;
  CharacterDecoder decoder;
};

/// Ids of a vocabulary are below this: a small file cannot ask for much memory.
inline constexpr int32_t kMostTokens = 1 << 22;

/// The definition, once it is consistent: ids in range and each used once, tokens different, the
/// two parts and the result of each merge among the tokens. Sorts the added tokens, and ends
/// `tokens` with the last one. IoError, "[where] file: ...", otherwise.
BpeDefinition checked(BpeDefinition definition, std::string_view where, std::string_view file);

/// Whether each byte that UTF-8 uses has a token: itself, or <0x00> in an alphabet of characters.
bool has_all_bytes(const BpeDefinition& definition);

/// A token as files write it.
std::string in_files(Alphabet alphabet, std::string_view token);
/// The token that files write so; none if it is not of the alphabet.
std::optional<std::string> from_files(Alphabet alphabet, std::string_view characters);

/// The token of an id as files write it.
std::string written(const BpeDefinition& definition, int32_t id);

/// <0x0A> for the byte 10.
std::string byte_token(unsigned char byte);

/// The text as the normalizer leaves it.
std::string normal_text(const BpeDefinition& definition, std::string_view text);
/// An added token as it is looked for in a text, and decoded.
std::string searched(const BpeDefinition& definition, const AddedToken& token);

}  // namespace farfield::data
