#include "data/tokenizers/vocab_merges.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "data/tokenizers/tokenizer_json.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "tokenizer";
constexpr const char* kEndOfText = "<|endoftext|>";

// Classes of transformers whose vocab.json and merges.txt mean what GPT-2's do.
constexpr std::array<std::string_view, 7> kLikeGpt2 = {
    "GPT2Tokenizer", "RobertaTokenizer", "BartTokenizer",   "LongformerTokenizer",
    "LEDTokenizer",  "DebertaTokenizer", "CodeGenTokenizer"};

Json read_object(const NamedText& from) {
  if (from.text.empty()) return Json::object();
  Json json = read_json({kWhere, from.file, from.text});
  require<IoError>(json.is_object(), kWhere, from.file, ": expected an object in JSON, got ",
                   json.type_name());
  return json;
}

// Special tokens by their text, each as an entry of added_tokens.
using SpecialTokens = std::map<std::string, Json>;

Json special_token(const std::string& content) { return {{"content", content}, {"special", true}}; }

// Reads special tokens from a file: {"eos_token": "</s>", "additional_special_tokens": [...], ...},
// a token being a string or an object with its content and how it is looked for.
void take_special(const Json& json, SpecialTokens& special) {
  const auto add = [&](Json token) {
    if (token.is_string()) token = special_token(token.get<std::string>());
    const auto content = whole_member<std::string>(token, "content");
    if (!content.has_value()) return;
    token["special"] = true;
    special[*content] = std::move(token);
  };
  for (const auto& entry : json.items()) {
    if (!entry.key().ends_with("_token") && !entry.key().ends_with("special_tokens")) continue;
    if (!entry.value().is_array()) add(entry.value());
    if (entry.value().is_array())
      for (const Json& token : entry.value()) add(token);
  }
}

// The added_tokens of the tokenizer.json that all these files are together.
Json added_tokens(const Json& vocabulary, const VocabularySiblings& siblings, const Json& config) {
  SpecialTokens special = {{kEndOfText, special_token(kEndOfText)}};
  take_special(read_object(siblings.special_tokens_map), special);
  take_special(config, special);
  Json list = Json::array();
  std::set<std::string> seen;
  const auto add = [&](const std::string& content, Json entry, const Json& id) {
    if (!seen.insert(content).second) return;
    entry["id"] = id;
    list.push_back(std::move(entry));
  };
  const Json decoder = config.value("added_tokens_decoder", Json::object());
  for (const auto& entry : decoder.items()) {
    const auto content = whole_member<std::string>(entry.value(), "content");
    int32_t id = -1;
    const std::string& digits = entry.key();
    std::from_chars(digits.data(), digits.data() + digits.size(), id);
    require<IoError>(content.has_value() && std::to_string(id) == digits, kWhere,
                     siblings.tokenizer_config.file,
                     ": expected ids with tokens in added_tokens_decoder, got '", digits, "'");
    add(content.value_or(""), entry.value(), id < 0 ? Json(id) : Json(static_cast<uint32_t>(id)));
  }
  const Json file = read_object(siblings.added_tokens);
  for (const auto& entry : file.items()) {
    const auto found = special.find(entry.key());
    add(entry.key(), found == special.end() ? Json{{"content", entry.key()}} : found->second,
        entry.value());
  }
  for (const auto& entry : vocabulary.items())
    if (const auto found = special.find(entry.key()); found != special.end())
      add(entry.key(), found->second, entry.value());
  return list;
}

// Reads from tokenizer_config.json how text is cut; refuses settings that are not implemented.
bool prefixes_blank(const NamedText& file, const Json& config) {
  const Json name = config.value("tokenizer_class", Json());
  if (name.is_string()) {
    std::string_view like = name.get_ref<const std::string&>();
    if (like.ends_with("Fast")) like.remove_suffix(4);
    require<IoError>(std::find(kLikeGpt2.begin(), kLikeGpt2.end(), like) != kLikeGpt2.end(), kWhere,
                     file.file,
                     ": expected a tokenizer_class that cuts text as GPT2Tokenizer, got '", like,
                     "', which is not implemented for vocab.json and merges.txt; save its ",
                     "tokenizer.json beside them");
  }
  for (const char* adds : {"add_bos_token", "add_eos_token"})
    require<IoError>(config.value(adds, Json()) != true, kWhere, file.file, ": expected ", adds,
                     " to be false, got true, which is not implemented; prepare itself ends each "
                     "document with a token");
  return config.value("add_prefix_space", Json()) == true;
}

// "he ll" for each merge, of tokens of the vocabulary.
Json read_merges(const NamedText& from, const Json& vocabulary) {
  std::unordered_set<std::string_view> tokens;
  for (const auto& entry : vocabulary.items()) tokens.insert(entry.key());
  Json merges = Json::array();
  std::string_view rest = from.text;
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);  // as git on Windows ends lines
    // Elsewhere # is a character like others; nor is anything else at the ends of lines trimmed.
    if (number == 1 && line.starts_with("#version")) continue;
    if (line.empty() && rest.empty()) break;
    const auto require_that = [&](bool ok, const auto&... parts) {
      require<IoError>(ok, kWhere, from.file, ": line ", number, ": ", parts...);
    };
    const size_t blank = line.find(' ');
    require_that(blank != std::string_view::npos, "expected two tokens with a blank between, got '",
                 line, "'");
    for (const std::string_view token : {line.substr(0, blank), line.substr(blank + 1)})
      require_that(tokens.count(token) > 0, "expected tokens of the vocabulary, got '", token, "'");
    merges.push_back(line);
  }
  return merges;
}

}  // namespace

BpeDefinition read_vocab_merges(const NamedText& vocabulary, const NamedText& merges,
                                const VocabularySiblings& siblings) {
  const Json vocab = read_object(vocabulary);
  const Json config = read_object(siblings.tokenizer_config);
  const Json tree = {{"added_tokens", added_tokens(vocab, siblings, config)},
                     {"pre_tokenizer",
                      {{"type", "ByteLevel"},
                       {"add_prefix_space", prefixes_blank(siblings.tokenizer_config, config)}}},
                     {"model", {{"vocab", vocab}, {"merges", read_merges(merges, vocab)}}}};
  std::vector<std::string> files = {vocabulary.file};
  for (const NamedText* sibling : {&siblings.added_tokens, &siblings.tokenizer_config})
    if (!sibling->text.empty()) files.push_back(sibling->file);
  return read_tokenizer_json(joined(files, " with "), write_json(tree));
}

}  // namespace farfield::data
