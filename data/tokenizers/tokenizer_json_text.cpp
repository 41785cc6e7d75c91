#include <algorithm>
#include <utility>

#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/split_patterns.h"
#include "data/tokenizers/tokenizer_json.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace farfield::data {
namespace {

std::string json_string(std::string_view text) { return write_json(text); }

const char* word(bool value) { return value ? "true" : "false"; }

// The entries of a list or an object, each on a line.
class Lines {
 public:
  explicit Lines(std::string& text) : text_(text) {}
  std::string& next() { return text_ += std::exchange(between_, ",\n"); }

 private:
  std::string& text_;
  const char* between_ = "\n";
};

std::string byte_level(bool add_prefix_space, bool use_regex) {
  return concat(R"({"type": "ByteLevel", "add_prefix_space": )", word(add_prefix_space),
                R"(, "trim_offsets": true, "use_regex": )", word(use_regex), "}");
}

std::string pre_tokenizer(const BpeDefinition& d) {
  const auto split = std::find_if(kSplitPatterns.begin(), kSplitPatterns.end(),
                                  [&](const SplitPattern& p) { return p.pattern == d.pattern; });
  if (d.pattern == Pattern::gpt2 || split == kSplitPatterns.end())
    return byte_level(d.add_prefix_space, d.pattern == Pattern::gpt2);
  return concat(R"({"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": )",
                json_string(split->text), R"(}, "behavior": "Isolated", "invert": false}, )",
                byte_level(false, false), "]}");
}

// Whether an added token stands in the vocabulary whatever the others do.
bool is_listed(const BpeDefinition& d, const AddedToken& t) {
  return t.is_special || t.id == d.unknown;
}

// Tokens that stand in added_tokens alone get their ids there in order, from the number of all
// others on. Those that would get another one that way stand in the vocabulary, as the special ones
// do by custom.
bool follow_in_order(const BpeDefinition& d, int64_t n_others) {
  for (const AddedToken& token : d.added) {
    if (is_listed(d, token)) continue;
    if (token.id != n_others++) return false;
  }
  return true;
}

// The entries of the vocabulary, by id, in the characters of files.
std::vector<std::string> vocabulary_of(const BpeDefinition& d) {
  std::vector<std::string> vocabulary(d.tokens.size());
  int64_t n_others = 0;
  for (size_t id = 0; id < d.tokens.size(); ++id) {
    vocabulary[id] = bytes_to_characters(d.tokens[id]);
    n_others += !d.tokens[id].empty();
  }
  const auto is_token = [&](const AddedToken& t) {
    return static_cast<size_t>(t.id) < d.tokens.size() &&
           !d.tokens[static_cast<size_t>(t.id)].empty();
  };
  for (const AddedToken& t : d.added) n_others += is_listed(d, t) && !is_token(t);
  const bool are_others_alone = follow_in_order(d, n_others);
  for (const AddedToken& t : d.added) {
    if (!is_listed(d, t) && are_others_alone) continue;
    const auto at = static_cast<size_t>(t.id);
    if (at >= vocabulary.size()) vocabulary.resize(at + 1);
    vocabulary[at] = t.content;
  }
  return vocabulary;
}

}  // namespace

std::string tokenizer_json_text(const BpeDefinition& d) {
  const std::vector<std::string> vocabulary = vocabulary_of(d);
  std::string text = R"({
  "version": "1.0",
  "truncation": null,
  "padding": null,
  "added_tokens": [)";
  Lines added(text);
  for (const AddedToken& t : d.added)
    added.next() +=
        concat(R"(    {"id": )", t.id, R"(, "content": )", json_string(t.content),
               R"(, "single_word": false, "lstrip": false, "rstrip": false, )", R"("normalized": )",
               word(t.is_normalized), R"(, "special": )", word(t.is_special), "}");
  text += concat(d.added.empty() ? "],\n" : "\n  ],\n", R"(  "normalizer": )",
                 d.normalizer == Normalizer::nfc ? R"({"type": "NFC"})" : "null", ",\n",
                 R"(  "pre_tokenizer": )", pre_tokenizer(d), ",\n",
                 R"(  "post_processor": {"type": "ByteLevel", "add_prefix_space": true, )",
                 R"("trim_offsets": false, "use_regex": true},)", "\n", R"(  "decoder": )",
                 byte_level(true, true), ",\n", R"(  "model": {
    "type": "BPE",
    "dropout": null,
    "unk_token": )",
                 d.unknown < 0 ? "null" : json_string(vocabulary[static_cast<size_t>(d.unknown)]),
                 R"(,
    "continuing_subword_prefix": null,
    "end_of_word_suffix": null,
    "fuse_unk": )",
                 word(d.fuses_unknown), R"(,
    "byte_fallback": false,
    "ignore_merges": )",
                 word(d.ignore_merges), ",\n    \"vocab\": {");
  Lines tokens(text);
  for (size_t id = 0; id < vocabulary.size(); ++id)
    if (!vocabulary[id].empty())
      tokens.next()
          .append("      ")
          .append(json_string(vocabulary[id]))
          .append(": ")
          .append(std::to_string(id));
  text += "\n    },\n    \"merges\": [";
  Lines merges(text);
  for (const auto& [left, right] : d.merges)
    merges.next().append("      ").append(json_string(vocabulary[static_cast<size_t>(left)] + ' ' +
                                                      vocabulary[static_cast<size_t>(right)]));
  text += d.merges.empty() ? "]\n  }\n}\n" : "\n    ]\n  }\n}\n";
  return text;
}

}  // namespace farfield::data
