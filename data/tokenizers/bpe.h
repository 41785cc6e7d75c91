#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/tokenizer.h"
#include "data/tokenizers/added_tokens.h"
#include "data/tokenizers/bpe_definition.h"
#include "data/tokenizers/bpe_merges.h"
#include "data/tokenizers/characters.h"
#include "data/tokenizers/cut_rule.h"
#include "data/tokenizers/make.h"

namespace farfield::data {

/// BPE, as in GPT-2 and Llama and later models: added tokens are split off, the text is normalised
/// and cut into pieces, and the bytes or characters of each piece are merged to tokens.
/// Source    Sennrich et al. 2016, arXiv:1508.07909; Radford et al. 2019, "Language Models are
///           Unsupervised Multitask Learners", section 2.2
class BpeTokenizer final : public Tokenizer {
 public:
  /// A definition returned by checked(). ConfigError unless options.end_of_text is one of its
  /// tokens. If the option is empty: ConfigError for several tokens with the usual names; without
  /// such a token, no token ends documents.
  BpeTokenizer(std::string name, BpeDefinition definition, const TokenizerOptions& options);
  ~BpeTokenizer() override;

  const BpeDefinition& definition() const { return definition_; }

  int64_t n_vocab() const override { return n_vocab_; }
  int32_t end_of_document() const override { return end_of_document_; }
  std::span<const int32_t> begin_of_text() const override { return definition_.begin_of_text; }
  std::span<const int32_t> end_of_text() const override { return definition_.end_of_text; }
  void encode(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decode(std::span<const int32_t> ids) const override;
  std::string decode_within(std::span<const int32_t> ids) const override;
  size_t cut(std::string_view text, size_t from) const override;

 private:
  struct Scratch;
  class Scratches;

  void add_added(const AddedToken& token, size_t number);
  // Of a part of the text, which may be the part that the text begins with.
  void encode_normalized(std::string_view part, bool is_first, Scratch& scratch,
                         std::vector<int32_t>& ids) const;
  void encode_between(std::string_view part, bool is_first, Scratch& scratch,
                      std::vector<int32_t>& ids) const;
  void encode_plain(std::string_view text, Scratch& scratch, std::vector<int32_t>& ids) const;
  void encode_piece(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const;
  void put_unknown(std::string_view piece, std::vector<int32_t>& ids) const;
  template <class Between>
  void split(const AddedTokens& added, std::string_view text, std::vector<int32_t>& ids,
             const Between& between) const;

  // What the alphabet of characters needs.
  struct Characters {
    explicit Characters(const BpeDefinition& definition) : ids(definition), texts(definition) {}
    CharacterIds ids;
    CharacterTexts texts;
  };

  BpeDefinition definition_;
  Pattern pattern_;
  std::optional<Characters> characters_;
  bool special_as_text_;
  int64_t n_vocab_ = 0;
  int32_t end_of_document_ = -1;
  std::array<int32_t, 256> byte_ids_{};  // -1: no token
  BpeMerges merges_;
  AddedTokens added_, added_normalized_;
  std::vector<std::string> added_texts_;  // what they decode to
  CutRule cut_rule_;
  std::unordered_map<std::string_view, int32_t> whole_;  // with ignore_merges, the tokens' ids
  std::unique_ptr<Scratches> scratches_;
};

}  // namespace farfield::data
