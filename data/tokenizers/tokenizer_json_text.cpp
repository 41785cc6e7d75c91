#include <algorithm>
#include <utility>

#include "data/tokenizers/json_parts.h"
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

enum class Listed { special, all, none };

// Whether an added token stands in the vocabulary too; the one for unknown bytes has to.
bool is_listed(const BpeDefinition& d, const AddedToken& t, Listed listed) {
  return listed == Listed::all || (listed == Listed::special && t.is_special) || t.id == d.unknown;
}

bool is_token(const BpeDefinition& d, int32_t id) {
  return static_cast<size_t>(id) < d.tokens.size() && !d.tokens[static_cast<size_t>(id)].empty();
}

// Tokens that stand in added_tokens alone get their ids there in order, from the number of all
// others on.
bool follow_in_order(const BpeDefinition& d, Listed listed) {
  const auto is_one = [](const std::string& token) { return !token.empty(); };
  int64_t n_others = std::count_if(d.tokens.begin(), d.tokens.end(), is_one);
  for (const AddedToken& t : d.added) n_others += is_listed(d, t, listed) && !is_token(d, t.id);
  return std::all_of(d.added.begin(), d.added.end(), [&](const AddedToken& t) {
    return is_listed(d, t, listed) || t.id == n_others++;
  });
}

// Those that would get another id that way stand in the vocabulary, as the special ones do by
// custom. That would make a word of a piece that is not the added token, where a piece may be any
// token.
Listed which_are_listed(const BpeDefinition& d) {
  const bool have_words =
      d.ignore_merges && std::any_of(d.added.begin(), d.added.end(), [&](const AddedToken& t) {
        return t.is_single_word && !is_token(d, t.id);
      });
  if (have_words && follow_in_order(d, Listed::none)) return Listed::none;
  return follow_in_order(d, Listed::special) ? Listed::special : Listed::all;
}

// The entries of the vocabulary, by id, in the characters of files.
std::vector<std::string> vocabulary_of(const BpeDefinition& d) {
  std::vector<std::string> vocabulary;
  for (const std::string& token : d.tokens) vocabulary.push_back(in_files(d.alphabet, token));
  const Listed listed = which_are_listed(d);
  for (const AddedToken& t : d.added) {
    if (!is_listed(d, t, listed)) continue;
    const auto at = static_cast<size_t>(t.id);
    if (at >= vocabulary.size()) vocabulary.resize(at + 1);
    vocabulary[at] = t.content;
  }
  return vocabulary;
}

// Whether a blank between two tokens would not tell where one ends.
bool has_blanks(const BpeDefinition& d, const std::vector<std::string>& vocabulary) {
  const auto has_one = [&](int32_t id) {
    return vocabulary[static_cast<size_t>(id)].find(' ') != std::string::npos;
  };
  return std::any_of(d.merges.begin(), d.merges.end(), [&](const BpeDefinition::Merge& merge) {
    return has_one(merge.left) || has_one(merge.right);
  });
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
               R"(, "single_word": )", word(t.is_single_word), R"(, "lstrip": )",
               word(t.strips_left), R"(, "rstrip": )", word(t.strips_right), R"(, "normalized": )",
               word(t.is_normalized), R"(, "special": )", word(t.is_special), "}");
  text += concat(d.added.empty() ? "],\n" : "\n  ],\n", R"(  "normalizer": )", normalizer_text(d),
                 ",\n", R"(  "pre_tokenizer": )", pre_tokenizer_text(d), ",\n",
                 R"(  "post_processor": )", post_processor_text(d), ",\n", R"(  "decoder": )",
                 decoder_text(d), ",\n", R"(  "model": {
    "type": "BPE",
    "dropout": null,
    "unk_token": )",
                 d.unknown < 0 ? "null" : json_string(vocabulary[static_cast<size_t>(d.unknown)]),
                 R"(,
    "continuing_subword_prefix": null,
    "end_of_word_suffix": null,
    "fuse_unk": )",
                 word(d.fuses_unknown), R"(,
    "byte_fallback": )",
                 word(d.falls_back_to_bytes), R"(,
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
  const bool are_pairs = has_blanks(d, vocabulary);
  for (const auto& [left, right] : d.merges) {
    const std::string& a = vocabulary[static_cast<size_t>(left)];
    const std::string& b = vocabulary[static_cast<size_t>(right)];
    merges.next().append("      ").append(
        are_pairs ? concat('[', json_string(a), ", ", json_string(b), ']')
                  : json_string(a + ' ' + b));
  }
  text += d.merges.empty() ? "]\n  }\n}\n" : "\n    ]\n  }\n}\n";
  return text;
}

}  // namespace farfield::data
