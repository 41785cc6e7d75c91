#include "apps/hub/gguf_tokenizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "apps/hub/gguf_added_tokens.h"
#include "data/tokenizers/bpe.h"
#include "data/tokenizers/bytes.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::hub {
namespace {

using data::BpeDefinition;
using data::Pattern;

// Kinds of tokens, by their numbers in tokenizer.ggml.token_type.
constexpr int32_t kNormalToken = 1, kControlToken = 3, kUserToken = 4, kUnusedToken = 5;

// How llama.cpp calls what cuts a text into pieces. The name also says whether a piece that is a
// token is that token, whatever the merges say.
struct Pre {
  Pattern pattern;
  bool ignore_merges;
  const char* name;
};
constexpr std::array<Pre, 5> kPre = {{{Pattern::gpt2, false, "gpt-2"},
                                      {Pattern::gpt2_digits, false, "smollm"},
                                      {Pattern::qwen2, false, "qwen2"},
                                      {Pattern::cl100k_lines, true, "llama-bpe"},
                                      {Pattern::cl100k_lines, false, "dbrx"}}};

const char* pre_of(const BpeDefinition& definition) {
  for (const Pre& pre : kPre)
    if (pre.pattern == definition.pattern && pre.ignore_merges == definition.ignore_merges)
      return pre.name;
  return nullptr;
}

// The bytes as tokens, with nothing to merge.
BpeDefinition bytes_definition(const data::Tokenizer& tokenizer) {
  BpeDefinition definition;
  for (int byte = 0; byte < 256; ++byte) definition.tokens.emplace_back(1, static_cast<char>(byte));
  definition.added.push_back(
      {.id = tokenizer.end_of_document(), .content = "<|endoftext|>", .is_special = true});
  return definition;
}

std::optional<BpeDefinition> definition_of(const data::Tokenizer& tokenizer) {
  if (const auto* bpe = dynamic_cast<const data::BpeTokenizer*>(&tokenizer))
    return bpe->definition();
  if (dynamic_cast<const data::ByteTokenizer*>(&tokenizer) != nullptr)
    return bytes_definition(tokenizer);
  return std::nullopt;
}

class GgufVocabulary {
 public:
  GgufVocabulary(const data::Tokenizer& tokenizer, const BpeDefinition& definition, int64_t n_row)
      : tokenizer_(tokenizer), definition_(definition) {
    const int64_t n_id = tokenizer.n_vocab();
    for (int64_t id = 0; id < n_row; ++id) {
      const bool is_known = id < n_id && static_cast<size_t>(id) < definition.tokens.size() &&
                            !definition.tokens[static_cast<size_t>(id)].empty();
      texts_.push_back(is_known ? data::written(definition, static_cast<int32_t>(id))
                                : concat("[PAD", id, ']'));
      kinds_.push_back(is_known ? kNormalToken : kUnusedToken);
    }
    for (const data::AddedToken& token : definition.added) {
      const auto at = static_cast<size_t>(token.id);
      if (at >= texts_.size()) continue;
      renames_ = renames_ || (kinds_[at] == kNormalToken && texts_[at] != token.content);
      texts_[at] = token.content;
      kinds_[at] = token.is_special ? kControlToken : kUserToken;
    }
    for (int64_t id = n_id; id < n_row; ++id) padding_.push_back(static_cast<int32_t>(id));
  }

  // Why llama.cpp would give other ids; empty: it gives the same.
  std::string obstacle() const {
    if (tokenizer_.n_vocab() > static_cast<int64_t>(texts_.size()))
      return "it has more ids than the model has rows";
    if (definition_.alphabet != data::Alphabet::bytes)
      return "its tokens are made of characters, not of bytes";
    if (pre_of(definition_) == nullptr) return "llama.cpp cuts no text into such pieces";
    if (definition_.add_prefix_space) return "it puts a blank in front of a text";
    if (definition_.unknown != -1) return "one token stands for all bytes without a token";
    if (renames_) return "a token that merges make is an added one under another text";
    std::unordered_set<std::string> texts(texts_.begin(), texts_.end());
    if (texts.size() != texts_.size()) return "two ids have one text";
    std::vector<std::string> added;
    for (const data::AddedToken& token : definition_.added) {
      if (token.strips_left || token.strips_right)
        return concat("'", token.content, "' takes the white space beside it along");
      if (token.is_single_word) return concat("'", token.content, "' is not taken within a word");
      added.push_back(data::searched(definition_, token));
    }
    if (const auto pair = differently_taken(added))
      return concat("'", pair->first, "' and '", pair->second, "' can overlap");
    if (definition_.begin_of_text.size() > 1 || definition_.end_of_text.size() > 1)
      return "it puts several tokens around a text";
    if (!end_id()) return "no token ends a text";
    if (!definition_.end_of_text.empty() && definition_.end_of_text.front() != *end_id())
      return "the token behind a text is not the one that ends documents";
    return "";
  }

  void add(GgufMetadata& to) const {
    to.add_text("tokenizer.ggml.model", "gpt2");
    to.add_text("tokenizer.ggml.pre", pre_of(definition_));
    to.add_texts("tokenizer.ggml.tokens", texts_);
    to.add_counts("tokenizer.ggml.token_type", kinds_);
    std::vector<std::string> merges;
    for (const BpeDefinition::Merge& merge : definition_.merges)
      merges.push_back(concat(data::written(definition_, merge.left), ' ',
                              data::written(definition_, merge.right)));
    to.add_texts("tokenizer.ggml.merges", merges);
    // Without a key, llama.cpp takes the token 11.
    const bool begins = !definition_.begin_of_text.empty();
    to.add_count("tokenizer.ggml.bos_token_id",
                 begins ? definition_.begin_of_text.front() : *end_id());
    to.add_count("tokenizer.ggml.eos_token_id", *end_id());
    to.add_flag("tokenizer.ggml.add_bos_token", begins);
    to.add_flag("tokenizer.ggml.add_eos_token", !definition_.end_of_text.empty());
    constexpr size_t kMostSuppressed = 4096;
    if (!padding_.empty() && padding_.size() <= kMostSuppressed)
      to.add_counts("tokenizer.ggml.suppress_tokens", padding_);
  }

 private:
  // The token that ends a text. A row of padding, which no text has, where there is none.
  std::optional<int32_t> end_id() const {
    if (tokenizer_.end_of_document() != data::Tokenizer::kNone) return tokenizer_.end_of_document();
    return padding_.empty() ? std::nullopt : std::optional(padding_.front());
  }

  const data::Tokenizer& tokenizer_;
  const BpeDefinition& definition_;
  std::vector<std::string> texts_;  // by id
  std::vector<int32_t> kinds_;
  std::vector<int32_t> padding_;  // rows without a token
  bool renames_ = false;
};

std::string without_tokenizer(GgufMetadata& to, const std::string& reason) {
  to.add_text("tokenizer.ggml.model", "none");
  return concat("the file has no tokenizer and takes token ids: ", reason);
}

}  // namespace

std::string add_gguf_tokenizer(const data::Tokenizer* tokenizer, int64_t n_row, GgufMetadata& to) {
  if (tokenizer == nullptr || !tokenizer->has_text())
    return without_tokenizer(to, "the run has none");
  const std::string ours = concat("llama.cpp has none with the ids of '", tokenizer->name(), "': ");
  const std::optional<BpeDefinition> definition = definition_of(*tokenizer);
  if (!definition) return without_tokenizer(to, ours + "it is not byte-level BPE");
  const GgufVocabulary vocabulary(*tokenizer, *definition, n_row);
  if (const std::string obstacle = vocabulary.obstacle(); !obstacle.empty())
    return without_tokenizer(to, ours + obstacle);
  vocabulary.add(to);
  if (definition->normalizer == data::Normalizer::nfc)
    return "llama.cpp does not normalise text: ids are those of the tokenizer for text in NFC";
  return "";
}

}  // namespace farfield::hub
