#include "data/tokenizers/tokenizer_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "data/tokenizers/byte_alphabet.h"
#include "data/tokenizers/other_kinds.h"
#include "data/tokenizers/split_patterns.h"
#include "data/tokenizers/token_ids.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "tokenizer";

const Json kNull;

class TokenizerReader {
 public:
  TokenizerReader(std::string_view file, std::string_view text)
      : file_(file), root_(read_json({kWhere, file, text})) {}

  BpeDefinition read() {
    require_that(root_.is_object() && root_.contains("model"),
                 "expected a tokenizer.json, got JSON without a model");
    for (const char* name : {"truncation", "padding"})
      require_that(member(root_, name).is_null(), "expected no ", name,
                   ", which is not implemented; set it to null");
    refuse_other_kinds();
    read_normalizer(member(root_, "normalizer"));
    read_pre_tokenizer(member(root_, "pre_tokenizer"));
    check_post_processor(member(root_, "post_processor"));
    // A decoder changes no id, and decoding here gives bytes.
    read_added(member(root_, "added_tokens"));
    const Json& model = member(root_, "model");
    read_settings(model);
    read_vocabulary(member(model, "vocab"));
    read_merges(member(model, "merges"));
    read_unknown(model);
    forget_unused_added();
    return checked(std::move(d_), kWhere, file_);
  }

 private:
  template <class... Parts>
  void require_that(bool ok, const Parts&... parts) const {
    require<IoError>(ok, kWhere, file_, ": ", parts...);
  }

  // Null where the object does not have it.
  static const Json& member(const Json& object, const char* name) {
    if (!object.is_object()) return kNull;
    const auto found = object.find(name);
    return found == object.end() ? kNull : *found;
  }
  bool flag(const Json& object, const char* name, bool otherwise) const {
    const Json& value = member(object, name);
    if (value.is_null()) return otherwise;
    require_that(value.is_boolean(), "expected ", name, " to be true or false, got ",
                 value.type_name());
    return value.get<bool>();
  }
  std::string text(const Json& value, const std::string& what) const {
    require_that(value.is_string(), "expected ", what, " to be a string, got ", value.type_name());
    return value.get<std::string>();
  }
  int32_t id(const Json& value, std::string_view of) const {
    require_that(value.is_number_unsigned() && value.get<uint64_t>() < uint64_t{kMostTokens},
                 "expected an id from 0 to ", kMostTokens - 1, " for '", of, "', got ",
                 value.is_number() ? write_json(value) : value.type_name());
    return value.get<int32_t>();
  }
  std::string type_of(const Json& part, const std::string& what) const {
    require_that(part.is_object(), "expected ", what, " to be an object, got ", part.type_name());
    return text(member(part, "type"), "the type of " + what);
  }
  void require_type(const Json& part, const std::string& what, std::string_view type) const {
    const std::string got = type_of(part, what);
    require_that(got == type, "expected ", what, " to be ", type, ", got '", got,
                 "', which is not implemented");
  }

  // Tokenizers of other kinds, by their names rather than by the first part that is not as wanted.
  void refuse_other_kinds() const {
    const Json& model = member(root_, "model");
    const auto is_type = [](const Json& part, std::string_view type) {
      return member(part, "type") == type;
    };
    const Json& normalizer = member(root_, "normalizer");
    const Json& parts = member(normalizer, "normalizers");
    const auto is_sentencepiece = [&](const Json& part) {
      return is_type(part, "Prepend") || is_type(part, "Precompiled");
    };
    const bool is_found =
        is_type(model, "Unigram") || member(model, "byte_fallback") == true ||
        is_type(member(root_, "pre_tokenizer"), "Metaspace") || is_sentencepiece(normalizer) ||
        (parts.is_array() && std::any_of(parts.begin(), parts.end(), is_sentencepiece));
    require_that(!is_found, "expected byte-level BPE, got ", kSentencePiece);
    require_that(!is_type(model, "WordPiece"), "expected byte-level BPE, got ", kWordPiece);
  }

  // A post-processor must add no tokens to the text.
  void check_post_processor(const Json& part) const {
    if (part.is_null()) return;
    const std::string type = type_of(part, "post_processor");
    if (type == "ByteLevel") return;
    if (type == "Sequence") {
      const Json& parts = member(part, "processors");
      require_that(parts.is_array(), "expected the processors of post_processor to be a list, got ",
                   parts.type_name());
      for (const Json& one : parts) {
        require_that(!one.is_null(), "expected a post_processor, got null");
        check_post_processor(one);
      }
      return;
    }
    const auto require_none = [&](bool ok, const auto&... added) {
      require_that(ok, "expected a post_processor that adds no token, got ", type, added...,
                   ", which is not implemented; set post_processor to null: prepare itself ends "
                   "each document with a token");
    };
    require_none(type == "TemplateProcessing");
    const Json& single = member(part, "single");
    require_that(single.is_array(), "expected the template of post_processor to be a list, got ",
                 single.type_name());
    for (const Json& piece : single) {
      const Json& special = member(piece, "SpecialToken");
      if (!special.is_null())
        require_none(false, " with ", text(member(special, "id"), "the id of a SpecialToken"));
    }
    require_none(single.size() == 1 && member(member(single[0], "Sequence"), "id") == "A",
                 " of other sequences than the text");
  }

  void read_normalizer(const Json& part) {
    if (part.is_null()) return;
    if (type_of(part, "normalizer") == "Sequence") {
      const Json& parts = member(part, "normalizers");
      require_that(parts.is_array(), "expected normalizers to be a list, got ", parts.type_name());
      for (const Json& one : parts) {
        require_type(one, "normalizer", "NFC");
        d_.normalizer = Normalizer::nfc;
      }
      return;
    }
    require_type(part, "normalizer", "NFC");
    d_.normalizer = Normalizer::nfc;
  }

  void read_pre_tokenizer(const Json& part) {
    require_that(!part.is_null(), "expected a pre_tokenizer ByteLevel, got none");
    if (type_of(part, "pre_tokenizer") != "Sequence") return read_byte_level(part, false);
    const Json& parts = member(part, "pretokenizers");
    require_that(parts.is_array() && (parts.size() == 1 || parts.size() == 2),
                 "expected pretokenizers to be a list of a Split and a ByteLevel, got something "
                 "else, which is not implemented");
    read_byte_level(parts.back(), parts.size() == 2);
    if (parts.size() == 2) read_split(parts.front());
  }
  void read_byte_level(const Json& part, bool is_split) {
    require_type(part, "pre_tokenizer", "ByteLevel");
    const bool use_regex = flag(part, "use_regex", true);
    d_.pattern = use_regex ? Pattern::gpt2 : Pattern::none;
    d_.add_prefix_space = flag(part, "add_prefix_space", false);
    require_that(!is_split || (!use_regex && !d_.add_prefix_space),
                 "expected use_regex and add_prefix_space to be false behind a Split, got true, "
                 "which is not implemented");
  }
  void read_split(const Json& part) {
    require_type(part, "pre_tokenizer", "Split");
    const std::string behavior = text(member(part, "behavior"), "the behavior of Split");
    const bool invert = flag(part, "invert", false);
    // The matches of a pattern cover the whole text, so removing the rest does nothing.
    require_that((behavior == "Isolated" && !invert) || (behavior == "Removed" && invert),
                 "expected Split to be Isolated, got '", behavior, invert ? "' and invert" : "'",
                 ", which is not implemented");
    const std::string pattern = text(member(member(part, "pattern"), "Regex"), "a Regex of Split");
    const auto found = std::find_if(kSplitPatterns.begin(), kSplitPatterns.end(),
                                    [&](const SplitPattern& p) { return p.text == pattern; });
    require_that(found != kSplitPatterns.end(),
                 "expected Split with the pattern of gpt2 or cl100k_base,"
                 " got '",
                 pattern, "', which is not implemented");
    if (found != kSplitPatterns.end()) d_.pattern = found->pattern;
  }

  void read_added(const Json& list) {
    if (list.is_null()) return;
    require_that(list.is_array(), "expected added_tokens to be a list, got ", list.type_name());
    for (const Json& entry : list) {
      AddedToken token;
      token.content = text(member(entry, "content"), "the content of an added token");
      token.id = id(member(entry, "id"), token.content);
      for (const char* name : {"single_word", "lstrip", "rstrip"})
        require_that(!flag(entry, name, false), "expected ", name, " to be false for '",
                     token.content, "', got true, which is not implemented");
      token.is_special = flag(entry, "special", false);
      token.is_normalized = flag(entry, "normalized", false);
      const auto [found, is_new] = added_ids_.emplace(token.content, token.id);
      require_that(is_new, "expected different added tokens, got '", token.content, "' twice");
      d_.added.push_back(std::move(token));
    }
  }

  void read_settings(const Json& model) {
    require_that(model.is_object(), "expected model to be an object, got ", model.type_name());
    if (!member(model, "type").is_null()) require_type(model, "model", "BPE");
    const Json& dropout = member(model, "dropout");
    require_that(dropout.is_null() || dropout == 0, "expected no dropout, got ",
                 dropout.is_number() ? write_json(dropout) : dropout.type_name(),
                 ", which is not implemented");
    for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const Json& value = member(model, name);
      require_that(value.is_null() || value == "", "expected no ", name,
                   ", got one, which is not implemented");
    }
    d_.ignore_merges = flag(model, "ignore_merges", false);
  }

  void read_vocabulary(const Json& vocabulary) {
    require_that(vocabulary.is_object(), "expected vocab to be an object, got ",
                 vocabulary.type_name());
    std::vector<bool> is_used;
    for (const auto& entry : vocabulary.items()) {
      const std::string& characters = entry.key();
      const int32_t token_id = id(entry.value(), characters);
      const auto at = static_cast<size_t>(token_id);
      if (at >= is_used.size()) is_used.resize(std::max(at + 1, 2 * is_used.size()));
      require_that(!is_used[at], "expected each id once, got ", token_id, " for '", characters,
                   "' and for another token");
      is_used[at] = true;
      const auto added = added_ids_.find(characters);
      require_that(added == added_ids_.end() || added->second == token_id, "expected one id for '",
                   characters, "', got ", token_id, " in vocab and ",
                   added == added_ids_.end() ? 0 : added->second, " in added_tokens");
      std::optional<std::string> bytes = characters_to_bytes(characters);
      require_that(bytes.has_value() || added != added_ids_.end(),
                   "expected tokens in the characters that stand for bytes, got '", characters,
                   "'; it is not a byte-level tokenizer");
      if (!bytes.has_value()) continue;
      require_that(!bytes->empty(), "expected tokens of at least one byte, got one of none");
      if (at >= d_.tokens.size()) d_.tokens.resize(std::max(at + 1, vocabulary.size()));
      d_.tokens[at] = std::move(*bytes);
    }
    for (const AddedToken& token : d_.added) {
      const auto at = static_cast<size_t>(token.id);
      require_that(at >= d_.tokens.size() || d_.tokens[at].empty() ||
                       d_.tokens[at] == characters_to_bytes(token.content),
                   "expected each id once, got ", token.id, " for '", token.content,
                   "' and for another token");
    }
  }

  void read_merges(const Json& merges) {
    require_that(merges.is_array(), "expected merges to be a list, got ", merges.type_name());
    const TokenIds ids(d_.tokens);
    const auto id_of = [&](std::string_view characters) {
      const std::optional<std::string> bytes = characters_to_bytes(characters);
      const int32_t found = bytes.has_value() && !bytes->empty() ? ids.find(*bytes) : -1;
      require_that(found >= 0, "expected merges of tokens, got merge ", d_.merges.size(), " of '",
                   characters, "', which is none");
      return found;
    };
    d_.merges.reserve(merges.size());
    for (const Json& merge : merges) {
      if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        const int32_t left = id_of(merge[0].get_ref<const std::string&>());
        d_.merges.push_back({left, id_of(merge[1].get_ref<const std::string&>())});
        continue;
      }
      require_that(merge.is_string(), "expected merge ", d_.merges.size(),
                   " to be two strings, or one with a blank between two, got ", merge.type_name());
      const std::string_view both = merge.get_ref<const std::string&>();
      const size_t blank = both.find(' ');
      require_that(blank != std::string_view::npos, "expected a blank in merge ", d_.merges.size(),
                   ", got '", both, "'");
      const int32_t left = id_of(both.substr(0, blank));
      d_.merges.push_back({left, id_of(both.substr(blank + 1))});
    }
  }

  // As the library has it: of use only where a byte has no token.
  void read_unknown(const Json& model) {
    const Json& name = member(model, "unk_token");
    if (name.is_null() || has_all_bytes(d_)) return;
    const std::string content = text(name, "unk_token");
    const Json& found = member(member(model, "vocab"), content.c_str());
    require_that(!found.is_null(), "expected unk_token to be a token of vocab, for there is not a ",
                 "token for each byte, got '", content, "'");
    d_.unknown = id(found, content);
    d_.fuses_unknown = flag(model, "fuse_unk", false);
  }

  // The bytes of an added token that no merge makes and none begins with are of no use; whether a
  // file has it in its vocabulary too makes no difference then.
  void forget_unused_added() {
    const TokenIds ids(d_.tokens);
    std::vector<bool> is_used(d_.tokens.size());
    for (const auto& [left, right] : d_.merges) {
      is_used[static_cast<size_t>(left)] = is_used[static_cast<size_t>(right)] = true;
      const int32_t product =
          ids.find(d_.tokens[static_cast<size_t>(left)] + d_.tokens[static_cast<size_t>(right)]);
      if (product >= 0) is_used[static_cast<size_t>(product)] = true;
    }
    for (const AddedToken& token : d_.added) {
      const auto at = static_cast<size_t>(token.id);
      if (at < d_.tokens.size() && !is_used[at] && d_.tokens[at].size() > 1) d_.tokens[at].clear();
    }
  }

  std::string file_;
  Json root_;
  BpeDefinition d_;
  std::unordered_map<std::string, int32_t> added_ids_;
};

}  // namespace

BpeDefinition read_tokenizer_json(std::string_view file, std::string_view text) {
  return TokenizerReader(file, text).read();
}

}  // namespace farfield::data
