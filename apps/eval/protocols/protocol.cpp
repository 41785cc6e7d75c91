#include "apps/eval/protocols/protocol.h"

#include <algorithm>

#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield::eval {

void check_common(std::string_view protocol, const CommonOptions& common) {
  const std::string where = concat("eval:", protocol);
  require<ConfigError>(!common.lengths.empty(), where, "bad_argument: expected lengths, got none");
  for (const int64_t length : common.lengths)
    require<ConfigError>(length >= 2, where, "length_too_short: expected lengths from 2 on, got ",
                         length,
                         "; a length counts the predicted token and there is no begin token");
  require<ConfigError>(common.batch_tokens >= 0, where,
                       "bad_argument: expected batch-tokens >= 0, got ", common.batch_tokens);
  require<ConfigError>(common.max_tokens >= 0, where,
                       "bad_argument: expected max-tokens >= 0, got ", common.max_tokens);
}

int64_t whole_text(const TokenStream& text, const CommonOptions& common) {
  return common.max_tokens > 0 ? std::min(common.max_tokens, text.size) : text.size;
}

void check_word(const char* option, const std::string& value,
                const std::vector<std::string>& words) {
  static constexpr Synonym kSynonyms[] = {{"perplexity", "last-token"},
                                          {"ppl", "last-token"},
                                          {"nonoverlapping", "non-overlapping"},
                                          {"chunks", "non-overlapping"},
                                          {"strided", "sliding"},
                                          {"sliding-window", "sliding"},
                                          {"position", "position-wise"},
                                          {"by-position", "position-wise"},
                                          {"erf", "gradient"},
                                          {"receptive-field", "gradient"},
                                          {"trf", "reach"},
                                          {"kv-cache", "cached"},
                                          {"cache", "cached"},
                                          {"cpd", "definiteness"},
                                          {"timing", "speed"},
                                          {"random", "seed"},
                                          {"shuffled", "seed"}};
  std::string list;
  for (const std::string& word : words) {
    if (word == value) return;
    list.append(list.empty() ? "" : ", ").append(word);
  }
  fail<ConfigError>("eval", "bad_argument: --", option, ": expected one of ", list, ", got '",
                    value, "'", did_you_mean(value, words, kSynonyms));
}

void check_positive(std::string_view protocol, const char* option, int64_t value) {
  require<ConfigError>(value >= 1, concat("eval:", protocol), "bad_argument: expected ", option,
                       " >= 1, got ", value);
}

void read_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                 int64_t begin, int64_t n, int32_t* out) {
  text.copy(begin, n, out);
  for (int64_t i = 0; i < n; ++i)
    require<IoError>(out[i] >= 0 && out[i] < vocab_size, concat("eval:", protocol),
                     "bad_token: expected ids below ", vocab_size, ", got ", out[i], " at token ",
                     begin + i);
}

void check_tokens(std::string_view protocol, const TokenStream& text, int64_t vocab_size,
                  int64_t begin, int64_t n) {
  constexpr int64_t kPiece = int64_t{1} << 16;
  std::vector<int32_t> piece(static_cast<size_t>(std::min(n, kPiece)));
  for (const int64_t end = begin + n; begin < end; begin += kPiece)
    read_tokens(protocol, text, vocab_size, begin, std::min(end - begin, kPiece), piece.data());
}

std::string counts_text(const std::vector<int64_t>& lengths,
                        const std::function<int64_t(int64_t length)>& count) {
  int64_t most = 0;
  for (const int64_t length : lengths) most = std::max(most, count(length));
  std::string fewer;
  for (const int64_t length : lengths)
    if (count(length) < most)
      fewer += concat(fewer.empty() ? " (" : ", ", count(length), " at ", length);
  return concat(most, fewer, fewer.empty() ? "" : ")");
}

void TokenSet::add(int64_t begin, int64_t n) { ranges_.emplace_back(begin, begin + n); }

void TokenSet::merge() const {
  std::sort(ranges_.begin(), ranges_.end());
  std::vector<std::pair<int64_t, int64_t>> merged;
  for (const auto& range : ranges_) {
    if (!merged.empty() && range.first <= merged.back().second)
      merged.back().second = std::max(merged.back().second, range.second);
    else
      merged.push_back(range);
  }
  ranges_ = std::move(merged);
}

int64_t TokenSet::size() const {
  merge();
  int64_t n = 0;
  for (const auto& [begin, end] : ranges_) n += end - begin;
  return n;
}

double TokenSet::bytes_per_token(const TokenStream& text) const {
  if (!text.count_bytes || size() == 0) return 0;
  int64_t bytes = 0;
  for (const auto& [begin, end] : ranges_) bytes += text.count_bytes(begin, end - begin);
  return static_cast<double>(bytes) / static_cast<double>(size());
}

std::string TokenSet::name(const TokenStream& text) const {
  merge();
  Hasher hasher;
  hasher.update(text.id);
  for (const auto& [begin, end] : ranges_) hasher.update(concat(' ', begin, '-', end));
  return hasher.hex().substr(0, 16);
}

}  // namespace farfield::eval
