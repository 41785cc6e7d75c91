#include "data/tokenizers/vocab_merges.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/token_ids.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "tokenizer";
constexpr std::string_view kEndOfText = "<|endoftext|>";

void read_vocabulary(const NamedText& from, BpeDefinition& d) {
  const auto require_that = [&](bool ok, const auto&... parts) {
    require<IoError>(ok, kWhere, from.file, ": ", parts...);
  };
  const Json vocabulary = read_json({kWhere, from.file, from.text});
  require_that(vocabulary.is_object(), "expected an object of tokens and ids, got ",
               vocabulary.type_name());
  std::vector<bool> is_used;
  for (const auto& entry : vocabulary.items()) {
    const Json& value = entry.value();
    require_that(value.is_number_unsigned() && value.get<uint64_t>() < uint64_t{kMostTokens},
                 "expected an id from 0 to ", kMostTokens - 1, " for '", entry.key(), "', got ",
                 value.is_number() ? write_json(value) : value.type_name());
    const auto id = value.get<size_t>();
    if (id >= is_used.size()) is_used.resize(std::max(id + 1, 2 * is_used.size()));
    require_that(!is_used[id], "expected each id once, got ", id, " for '", entry.key(),
                 "' and for another token");
    is_used[id] = true;
    if (entry.key() == kEndOfText) {
      d.added.push_back({static_cast<int32_t>(id), entry.key(), true, false});
      continue;
    }
    std::optional<std::string> bytes = characters_to_bytes(entry.key());
    require_that(bytes.has_value() && !bytes->empty(),
                 "expected tokens in the characters that stand for bytes, got '", entry.key(),
                 "'; it is not a byte-level tokenizer");
    if (id >= d.tokens.size()) d.tokens.resize(std::max(id + 1, vocabulary.size()));
    if (bytes.has_value()) d.tokens[id] = std::move(*bytes);
  }
}

void read_merges(const NamedText& from, BpeDefinition& d) {
  const TokenIds ids(d.tokens);
  std::string_view rest = from.text;
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // Elsewhere # is a character like others; nor is anything at the ends of lines trimmed.
    if (number == 1 && line.starts_with("#version")) continue;
    if (line.empty() && rest.empty()) break;
    const auto require_that = [&](bool ok, const auto&... parts) {
      require<IoError>(ok, kWhere, from.file, ": line ", number, ": ", parts...);
    };
    const size_t blank = line.find(' ');
    require_that(blank != std::string_view::npos, "expected two tokens with a blank between, got '",
                 line, "'");
    const auto id_of = [&](std::string_view characters) {
      const std::optional<std::string> bytes = characters_to_bytes(characters);
      const int32_t id = bytes.has_value() && !bytes->empty() ? ids.find(*bytes) : -1;
      require_that(id >= 0, "expected tokens of the vocabulary, got '", characters, "'");
      return id;
    };
    const int32_t left = id_of(line.substr(0, blank));
    d.merges.push_back({left, id_of(line.substr(blank + 1))});
  }
}

}  // namespace

BpeDefinition read_vocab_merges(const NamedText& vocabulary, const NamedText& merges) {
  BpeDefinition d;
  read_vocabulary(vocabulary, d);
  read_merges(merges, d);
  return checked(std::move(d), kWhere, vocabulary.file);
}

}  // namespace farfield::data
