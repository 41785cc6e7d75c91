#include "data/tokenizers/words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "data/tokenizers/bpe_definition.h"
#include "data/tokenizers/unicode.h"
#include "data/tokenizers/words_json.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

namespace farfield::data {
namespace {

constexpr std::string_view kWhere = "tokenizer";
constexpr size_t kMostWordBytes = 1024;

// Bytes of the white space that a text has at `at`; 0: it has something else there.
size_t white_space_at(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 128) return byte == ' ' || (byte >= '\t' && byte <= '\r') ? 1 : 0;
  const Symbol symbol = symbol_at(text, at);
  return symbol.type == CharClass::space ? symbol.size : 0;
}

// word(w) and end_of_line() in the order of the text.
template <class Word, class EndOfLine>
void for_each_word(std::string_view text, const Word& word, const EndOfLine& end_of_line) {
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t size = white_space_at(text, at);
    if (size == 0) {
      ++at;  // bytes within a character are no white space either
      continue;
    }
    if (at > begin) word(text.substr(begin, at - begin));
    if (text[at] == '\n') end_of_line();
    begin = at += size;
  }
  if (begin < text.size()) word(text.substr(begin));
}

size_t cut_behind_white_space(std::string_view text, size_t from) {
  // A character that has begun before `from` ends at most two bytes behind it.
  for (size_t at = from - std::min<size_t>(from, 3); at < text.size();) {
    const size_t size = white_space_at(text, at);
    at += std::max<size_t>(size, 1);
    if (size > 0 && at >= from) return at;
  }
  return text.size();
}

int32_t find_end_of_document(const TokenIds& ids, size_t n_words, const TokenizerOptions& options) {
  if (const auto recorded = options.end_of_document) {
    require<IoError>(*recorded >= 0 && static_cast<size_t>(*recorded) < n_words, kWhere,
                     "expected the id of a token to end documents with, got ", *recorded);
    return *recorded;
  }
  const std::string& asked = options.end_of_text;
  if (asked.empty()) return WordsTokenizer::kEndOfDocument;
  const int32_t id = ids.find(asked);
  require<ConfigError>(id >= 0, kWhere, "expected --end-of-text to name a token, got '", asked,
                       "'");
  return id;
}

}  // namespace

WordsTokenizer::WordsTokenizer(std::string name, std::vector<std::string> words,
                               const TokenizerOptions& options)
    : Tokenizer(std::move(name), File{words_json_text(words)}),
      words_(std::move(words)),
      ids_(words_),
      special_as_text_(options.special_as_text),
      end_of_document_(find_end_of_document(ids_, words_.size(), options)) {}

void WordsTokenizer::encode(std::string_view text, std::vector<int32_t>& ids) const {
  for_each_word(
      text,
      [&](std::string_view word) {
        const int32_t id = ids_.find(word);
        ids.push_back(id < 0 || (special_as_text_ && id < kUnknown) ? kUnknown : id);
      },
      [&] { ids.push_back(kEndOfLine); });
}

std::string WordsTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    check_id(id);
    if (id == kEndOfLine)
      text += '\n';
    else if (id >= kUnknown)
      text.append(words_[static_cast<size_t>(id)]).append(1, ' ');
  }
  return text;
}

size_t WordsTokenizer::cut(std::string_view text, size_t from) const {
  return cut_behind_white_space(text, from);
}

PieceRule words_pieces() {
  PieceRule rule;
  rule.cut = cut_behind_white_space;
  rule.count = [](std::string_view text, PieceTable& pieces) {
    for_each_word(
        text,
        [&](std::string_view word) {
          if (word.size() <= kMostWordBytes) pieces.add(word);
        },
        [&] { pieces.add(kSpecialWords[WordsTokenizer::kEndOfLine]); });
  };
  return rule;
}

std::vector<std::string> learn_words(const PieceTable& pieces, int64_t vocab_size) {
  const auto most = static_cast<size_t>(vocab_size > 0 ? vocab_size : int64_t{kMostTokens});
  std::vector<std::string> words(kSpecialWords.begin(), kSpecialWords.end());
  for (const uint32_t i : pieces.by_count()) {
    const std::string_view word = pieces.piece(i);
    if (words.size() >= most) break;
    if (std::find(kSpecialWords.begin(), kSpecialWords.end(), word) == kSpecialWords.end())
      words.emplace_back(word);
  }
  return words;
}

}  // namespace farfield::data
