#include "data/tokenizers/tokenizer_json.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "data/tokenizers/json_parts.h"
#include "data/tokenizers/other_kinds.h"
#include "data/tokenizers/token_ids.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/utf8.h"

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
    read_normalizer(part("normalizer"), d_);
    read_pre_tokenizer(part("pre_tokenizer"), d_);
    require_that(d_.alphabet == Alphabet::characters || d_.blanks.step == BlankRule::Step::none,
                 "expected no normalizer Replace where pre_tokenizer is ByteLevel, got one, "
                 "which is not implemented");
    read_post_processor(part("post_processor"), d_);
    read_decoder(part("decoder"), d_);
    read_added(member(root_, "added_tokens"));
    const Json& model = member(root_, "model");
    read_settings(model);
    read_vocabulary(member(model, "vocab"));
    read_merges(member(model, "merges"));
    read_byte_fallback(model);
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
  // Tokenizers of other kinds, by their names rather than by the first part that is not as wanted.
  void refuse_other_kinds() const {
    const Json& model = member(root_, "model");
    const auto is_type = [](const Json& part, std::string_view type) {
      return member(part, "type") == type;
    };
    const Json& normalizer = member(root_, "normalizer");
    const Json& parts = member(normalizer, "normalizers");
    const auto is_precompiled = [&](const Json& part) { return is_type(part, "Precompiled"); };
    const bool is_found =
        is_type(model, "Unigram") || is_precompiled(normalizer) ||
        (parts.is_array() && std::any_of(parts.begin(), parts.end(), is_precompiled));
    require_that(!is_found, "expected BPE, got ", kUnigram);
    require_that(!is_type(model, "WordPiece"), "expected BPE, got ", kWordPiece);
  }

  JsonPart part(const char* name) const { return {file_, write_json(member(root_, name))}; }

  void read_added(const Json& list) {
    if (list.is_null()) return;
    require_that(list.is_array(), "expected added_tokens to be a list, got ", list.type_name());
    for (const Json& entry : list) {
      AddedToken token;
      token.content = text(member(entry, "content"), "the content of an added token");
      token.id = id(member(entry, "id"), token.content);
      token.is_single_word = flag(entry, "single_word", false);
      token.strips_left = flag(entry, "lstrip", false);
      token.strips_right = flag(entry, "rstrip", false);
      token.is_special = flag(entry, "special", false);
      token.is_normalized = flag(entry, "normalized", false);
      const auto [found, is_new] = added_ids_.emplace(token.content, token.id);
      require_that(is_new, "expected different added tokens, got '", token.content, "' twice");
      d_.added.push_back(std::move(token));
    }
  }

  void read_settings(const Json& model) {
    require_that(model.is_object(), "expected model to be an object, got ", model.type_name());
    const Json& type = member(model, "type");
    require_that(type.is_null() || type == "BPE", "expected model to be BPE, got ",
                 type.is_string() ? write_json(type) : type.type_name(),
                 ", which is not implemented");
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
      std::optional<std::string> bytes = from_files(d_.alphabet, characters);
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
                       d_.tokens[at] == from_files(d_.alphabet, token.content),
                   "expected each id once, got ", token.id, " for '", token.content,
                   "' and for another token");
    }
  }

  void read_merges(const Json& merges) {
    require_that(merges.is_array(), "expected merges to be a list, got ", merges.type_name());
    const TokenIds ids(d_.tokens);
    const auto id_of = [&](std::string_view characters) {
      const std::optional<std::string> bytes = from_files(d_.alphabet, characters);
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

  // In place of characters, where the vocabulary has the bytes that UTF-8 uses. With some of them
  // alone the library gives ids in another order than that of the text.
  void read_byte_fallback(const Json& model) {
    if (!flag(model, "byte_fallback", false)) return;
    const bool are_all_known = has_all_bytes(d_);
    require_that(d_.alphabet == Alphabet::characters || are_all_known,
                 "expected byte_fallback to be false where pre_tokenizer is ByteLevel and not each "
                 "byte has a token, got true, which is not implemented");
    d_.falls_back_to_bytes = d_.alphabet == Alphabet::characters && are_all_known;
    if (are_all_known) return;
    const TokenIds ids(d_.tokens);
    for (int byte = 0; byte < 256; ++byte) {
      const std::string token = byte_token(static_cast<unsigned char>(byte));
      require_that(ids.find(token) < 0, "expected a token for each byte with byte_fallback, or ",
                   "none, got ", token, " and not all others");
    }
  }

  // As the library has it: of use only where a byte or a character has no token.
  void read_unknown(const Json& model) {
    const Json& name = member(model, "unk_token");
    const bool are_all_known =
        d_.alphabet == Alphabet::bytes ? has_all_bytes(d_) : d_.falls_back_to_bytes;
    if (name.is_null() || are_all_known) return;
    const std::string content = text(name, "unk_token");
    const Json& found = member(member(model, "vocab"), content.c_str());
    require_that(!found.is_null(), "expected unk_token to be a token of vocab, for there is not a ",
                 "token for each byte, got '", content, "'");
    d_.unknown = id(found, content);
    d_.fuses_unknown = flag(model, "fuse_unk", false);
  }

  // An added token that no merge makes and none begins with is of no use in the model; whether a
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
    for (int byte = 0; byte < 256 && d_.falls_back_to_bytes; ++byte)
      if (const int32_t at = ids.find(byte_token(static_cast<unsigned char>(byte))); at >= 0)
        is_used[static_cast<size_t>(at)] = true;
    for (const AddedToken& token : d_.added) {
      const auto at = static_cast<size_t>(token.id);
      if (d_.ignore_merges && token.is_single_word) continue;  // a piece may be it all the same
      if (at < d_.tokens.size() && !is_used[at] && !is_symbol(d_.tokens[at])) d_.tokens[at].clear();
    }
  }
  // Whether a piece can begin with the token before any merge.
  bool is_symbol(std::string_view token) const {
    return token.size() == 1 || (d_.alphabet == Alphabet::characters && !token.empty() &&
                                 first_of_utf8(token).size == token.size());
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
