#include "data/tokenizers/bpe_definition.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "data/tokenizers/added_tokens.h"
#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/token_ids.h"
#include "data/tokenizers/unicode.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

// The id of the token that files write as they write the added one.
int32_t same_token(const TokenIds& ids, Alphabet alphabet, std::string_view content) {
  const std::optional<std::string> token = from_files(alphabet, content);
  return token.has_value() && !token->empty() ? ids.find(*token) : -1;
}

}  // namespace

std::string in_files(Alphabet alphabet, std::string_view token) {
  return alphabet == Alphabet::bytes ? bytes_to_characters(token) : std::string(token);
}

std::optional<std::string> from_files(Alphabet alphabet, std::string_view characters) {
  if (alphabet == Alphabet::bytes) return characters_to_bytes(characters);
  return std::string(characters);
}

std::string written(const BpeDefinition& d, int32_t id) {
  for (const AddedToken& token : d.added)
    if (token.id == id) return token.content;
  return in_files(d.alphabet, d.tokens[static_cast<size_t>(id)]);
}

std::string byte_token(unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  return concat("<0x", kDigits[byte >> 4], kDigits[byte & 15], '>');
}

bool has_all_bytes(const BpeDefinition& d) {
  const TokenIds ids(d.tokens);
  for (int byte = 0; byte < 256; ++byte) {
    const auto value = static_cast<unsigned char>(byte);
    const std::string token = d.alphabet == Alphabet::bytes
                                  ? std::string(1, static_cast<char>(value))
                                  : byte_token(value);
    if (is_byte_of_utf8(value) && ids.find(token) < 0) return false;
  }
  return true;
}

std::string normal_text(const BpeDefinition& d, std::string_view text) {
  std::string result = d.normalizer == Normalizer::nfc ? nfc(text) : std::string(text);
  if (d.blanks.step != BlankRule::Step::normalizer || result.empty()) return result;
  return mark_blanks(result, d.blanks.in_front == BlankInFront::always);
}

std::string searched(const BpeDefinition& d, const AddedToken& token) {
  return token.is_normalized ? normal_text(d, token.content) : token.content;
}

BpeDefinition checked(BpeDefinition d, std::string_view where, std::string_view file) {
  const auto require_that = [&](bool ok, const auto&... parts) {
    require<IoError>(ok, where, file, ": ", parts...);
  };
  while (!d.tokens.empty() && d.tokens.back().empty()) d.tokens.pop_back();
  require_that(d.tokens.size() <= size_t{kMostTokens}, "expected at most ", kMostTokens,
               " tokens, got ", d.tokens.size());
  require_that(!d.tokens.empty(), "expected tokens, got none");
  const TokenIds ids(d.tokens);
  require_that(ids.twice() < 0, "expected different tokens, got one twice, with the id ",
               ids.twice());

  std::sort(d.added.begin(), d.added.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  std::unordered_set<std::string_view> contents;
  std::unordered_set<std::string> normal;
  for (size_t i = 0; i < d.added.size(); ++i) {
    const AddedToken& token = d.added[i];
    require_that(token.id >= 0 && token.id < kMostTokens, "expected ids from 0 to ",
                 kMostTokens - 1, ", got ", token.id, " for an added token");
    const int32_t same = same_token(ids, d.alphabet, token.content);
    require_that(same < 0 || same == token.id, "expected one id for '", token.content, "', got ",
                 same, " for the token and ", token.id, " for the added one");
    require_that((i == 0 || d.added[i - 1].id != token.id) &&
                     (same == token.id || static_cast<size_t>(token.id) >= d.tokens.size() ||
                      d.tokens[static_cast<size_t>(token.id)].empty()),
                 "expected each id once, got ", token.id, " twice");
    require_that(!token.content.empty() && token.content.size() <= AddedTokens::kMostBytes,
                 "expected added tokens of 1 to ", AddedTokens::kMostBytes, " bytes, got ",
                 token.content.size(), " for the id ", token.id);
    require_that(contents.insert(token.content).second, "expected different added tokens, got '",
                 token.content, "' twice");
    if (!token.is_normalized) continue;
    std::string there = searched(d, token);
    require_that(there.size() <= AddedTokens::kMostBytes, "expected added tokens of at most ",
                 AddedTokens::kMostBytes, " bytes in normalised text, got ", there.size(),
                 " for the id ", token.id);
    require_that(normal.insert(std::move(there)).second,
                 "expected added tokens that differ in normalised text, got '", token.content,
                 "' and another that is the same there");
  }

  const auto is_token = [&](int32_t id) {
    return id >= 0 && static_cast<size_t>(id) < d.tokens.size() &&
           !d.tokens[static_cast<size_t>(id)].empty();
  };
  const auto is_some_token = [&](int32_t id) {
    return is_token(id) || std::any_of(d.added.begin(), d.added.end(),
                                       [&](const AddedToken& t) { return t.id == id; });
  };
  require_that(d.unknown == -1 || is_some_token(d.unknown),
               "expected the token for unknown bytes to be one, got the id ", d.unknown);
  for (const auto* added : {&d.begin_of_text, &d.end_of_text})
    for (const int32_t id : *added)
      require_that(is_some_token(id),
                   "expected tokens in front of a text and behind it, got the id ", id,
                   ", which is none");
  require_that(d.alphabet == Alphabet::characters || !d.falls_back_to_bytes,
               "expected no bytes in place of characters where tokens are bytes, got some");
  require_that(!d.falls_back_to_bytes || has_all_bytes(d), "expected a token from ", byte_token(0),
               " to ", byte_token(0xFF), " for each byte, got not all");
  std::unordered_set<uint64_t> pairs;
  pairs.reserve(d.merges.size());
  for (size_t rank = 0; rank < d.merges.size(); ++rank) {
    const auto [left, right] = d.merges[rank];
    require_that(is_token(left) && is_token(right), "expected merges of tokens, got ", left,
                 " and ", right, " in merge ", rank);
    require_that(
        pairs.insert(uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right))
            .second,
        "expected each merge once, got merge ", rank, " twice");
    require_that(
        ids.find(d.tokens[static_cast<size_t>(left)] + d.tokens[static_cast<size_t>(right)]) >= 0,
        "expected merges that make a token, got merge ", rank, ", of the tokens ", left, " and ",
        right, ", which makes none");
  }
  return d;
}

}  // namespace farfield::data
