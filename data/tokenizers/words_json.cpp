#include "data/tokenizers/words_json.h"

#include <algorithm>

#include "data/tokenizers/bpe_definition.h"
#include "data/tokenizers/unicode.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "tokenizer";
constexpr std::string_view kLineEnd = "\n", kInItsPlace = " </s> ";

// The member of an object; null if it is missing.
const Json& member(const Json& object, const char* name) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

bool has_white_space(std::string_view word) {
  for (size_t at = 0; at < word.size();) {
    const Symbol symbol = symbol_at(word, at);
    if (symbol.type == CharClass::space) return true;
    at += symbol.size;
  }
  return false;
}

class WordsReader {
 public:
  WordsReader(std::string_view file, std::string_view text)
      : file_(file), root_(read_json({kWhere, file, text})) {}

  bool is_words() const { return member(member(root_, "model"), "type") == "WordLevel"; }

  std::vector<std::string> read() const {
    for (const char* name : {"truncation", "padding", "post_processor"})
      require_that(member(root_, name).is_null(), "expected no ", name,
                   " for words, got one, which is not implemented");
    const Json& added = member(root_, "added_tokens");
    require_that(added.is_null() || (added.is_array() && added.empty()),
                 "expected no added_tokens for words, got some, which is not implemented");
    const Json& normalizer = member(root_, "normalizer");
    require_text(normalizer, "type", "Replace", "normalizer");
    require_text(member(normalizer, "pattern"), "String", kLineEnd, "the normalizer's pattern");
    require_text(normalizer, "content", kInItsPlace, "normalizer");
    require_text(member(root_, "pre_tokenizer"), "type", "WhitespaceSplit", "pre_tokenizer");
    const Json& model = member(root_, "model");
    require_text(model, "type", "WordLevel", "model");
    require_text(model, "unk_token", "<unk>", "model");
    return read_vocabulary(member(model, "vocab"));
  }

 private:
  template <class... Parts>
  void require_that(bool ok, const Parts&... parts) const {
    require<IoError>(ok, kWhere, file_, ": ", parts...);
  }

  void require_text(const Json& object, const char* name, std::string_view wanted,
                    const char* what) const {
    const Json& value = member(object, name);
    require_that(value.is_string() && value.get_ref<const std::string&>() == wanted, "expected ",
                 what, " of words with ", name, ' ', write_json(wanted), ", got ",
                 value.is_string() ? write_json(value) : value.type_name(),
                 ", which is not implemented");
  }

  std::vector<std::string> read_vocabulary(const Json& vocabulary) const {
    require_that(vocabulary.is_object(), "expected vocab to be an object, got ",
                 vocabulary.type_name());
    require_that(
        vocabulary.size() >= kSpecialWords.size() && vocabulary.size() <= size_t{kMostTokens},
        "expected from ", kSpecialWords.size(), " to ", kMostTokens, " words, got ",
        vocabulary.size());
    std::vector<std::string> words(vocabulary.size());
    for (const auto& entry : vocabulary.items()) {
      const std::string& word = entry.key();
      const Json& id = entry.value();
      require_that(id.is_number_unsigned() && id.get<uint64_t>() < words.size(),
                   "expected ids from 0 to ", words.size() - 1, ", got ",
                   id.is_number() ? write_json(id) : id.type_name(), " for '", word, "'");
      std::string& place = words[id.get<size_t>()];
      require_that(place.empty(), "expected each id once, got ", write_json(id), " for '", place,
                   "' and '", word, "'");
      require_that(!word.empty() && !has_white_space(word),
                   "expected words without white space, got '", word, "'");
      place = word;
    }
    for (size_t id = 0; id < kSpecialWords.size(); ++id)
      require_that(words[id] == kSpecialWords[id], "expected ", kSpecialWords[id],
                   " to have the id ", id, ", got '", words[id], "' there");
    return words;
  }

  std::string file_;
  Json root_;
};

}  // namespace

bool is_words_json(std::string_view file, std::string_view text) {
  return text.find("WordLevel") != text.npos && WordsReader(file, text).is_words();
}

std::vector<std::string> read_words_json(std::string_view file, std::string_view text) {
  return WordsReader(file, text).read();
}

std::string words_json_text(const std::vector<std::string>& words) {
  std::string text = R"({
  "version": "1.0",
  "truncation": null,
  "padding": null,
  "added_tokens": [],
  "normalizer": {"type": "Replace", "pattern": {"String": "\n"}, "content": " </s> "},
  "pre_tokenizer": {"type": "WhitespaceSplit"},
  "post_processor": null,
  "decoder": null,
  "model": {
    "type": "WordLevel",
    "unk_token": "<unk>",
    "vocab": {)";
  for (size_t id = 0; id < words.size(); ++id)
    text.append(id == 0 ? "\n      " : ",\n      ")
        .append(write_json(words[id]))
        .append(": ")
        .append(std::to_string(id));
  return text + "\n    }\n  }\n}\n";
}

}  // namespace farfield::data
