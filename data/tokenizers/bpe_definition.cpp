#include "data/tokenizers/bpe_definition.h"

#include <algorithm>
#include <bitset>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "data/tokenizers/added_tokens.h"
#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/token_ids.h"
#include "engine/base/error.h"

namespace farfield::data {
namespace {

// The id of the token that files write as they write the added one.
int32_t same_token(const TokenIds& ids, std::string_view content) {
  const std::optional<std::string> bytes = characters_to_bytes(content);
  return bytes.has_value() && !bytes->empty() ? ids.find(*bytes) : -1;
}

}  // namespace

bool has_all_bytes(const BpeDefinition& d) {
  std::bitset<256> found;
  for (const std::string& token : d.tokens)
    if (token.size() == 1) found.set(static_cast<unsigned char>(token[0]));
  for (size_t byte = 0; byte < found.size(); ++byte)
    if (!found[byte] && is_byte_of_utf8(static_cast<unsigned char>(byte))) return false;
  return true;
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
  for (size_t i = 0; i < d.added.size(); ++i) {
    const AddedToken& token = d.added[i];
    require_that(token.id >= 0 && token.id < kMostTokens, "expected ids from 0 to ",
                 kMostTokens - 1, ", got ", token.id, " for an added token");
    const int32_t same = same_token(ids, token.content);
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
  }

  const auto is_token = [&](int32_t id) {
    return id >= 0 && static_cast<size_t>(id) < d.tokens.size() &&
           !d.tokens[static_cast<size_t>(id)].empty();
  };
  const auto is_added = [&](const AddedToken& t) { return t.id == d.unknown; };
  require_that(d.unknown == -1 || is_token(d.unknown) ||
                   std::any_of(d.added.begin(), d.added.end(), is_added),
               "expected the token for unknown bytes to be one, got the id ", d.unknown);
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
