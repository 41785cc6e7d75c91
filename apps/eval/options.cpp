#include "apps/eval/options.h"

#include <algorithm>

#include "apps/cli/lists.h"
#include "engine/base/error.h"
#include "engine/base/text.h"

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

int64_t whole_text(int64_t text_size, const CommonOptions& common) {
  return common.max_tokens > 0 ? std::min(common.max_tokens, text_size) : text_size;
}

void check_word(const char* option, const std::string& value,
                const std::vector<std::string>& words) {
  if (!cli::has(words, value)) refuse_word(option, value, words);
}

void refuse_word(const char* option, const std::string& value,
                 const std::vector<std::string>& words, std::span<const Synonym> synonyms) {
  fail<ConfigError>("eval", "bad_argument: --", option, ": expected one of ", joined(words),
                    ", got '", value, "'", did_you_mean(value, words, synonyms));
}

void check_positive(std::string_view protocol, const char* option, int64_t value) {
  require<ConfigError>(value >= 1, concat("eval:", protocol), "bad_argument: expected ", option,
                       " >= 1, got ", value);
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

}  // namespace farfield::eval
