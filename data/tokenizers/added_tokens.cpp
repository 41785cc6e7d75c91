#include "data/tokenizers/added_tokens.h"

#include <cassert>

namespace farfield::data {

void AddedTokens::add(std::string_view content, int32_t number) {
  assert(!content.empty() && content.size() <= kMostBytes);
  if (number_.empty()) number_.push_back(-1);
  uint32_t node = 0;
  for (const char c : content) {
    const uint64_t key = uint64_t{node} << 8 | static_cast<unsigned char>(c);
    const auto [found, is_new] = next_.try_emplace(key, static_cast<uint32_t>(number_.size()));
    if (is_new) number_.push_back(-1);
    node = found->second;
  }
  number_[node] = number;
  const size_t first = static_cast<unsigned char>(content[0]);
  if (content.size() == 1) {
    singles_.set(first);
    for (size_t second = 0; second < 256; ++second) pairs_.set(first << 8 | second);
  } else {
    pairs_.set(pair(content, 0));
  }
}

AddedTokens::Match AddedTokens::longest_at(std::string_view text, size_t at) const {
  Match longest = {at, 0, -1};
  uint32_t node = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const auto found = next_.find(uint64_t{node} << 8 | static_cast<unsigned char>(text[i]));
    if (found == next_.end()) break;
    node = found->second;
    if (number_[node] >= 0) longest = {at, i + 1 - at, number_[node]};
  }
  return longest;
}

AddedTokens::Match AddedTokens::find(std::string_view text, size_t from) const {
  if (!empty()) {
    for (size_t at = from; at < text.size(); ++at) {
      const bool may_begin = at + 1 < text.size() ? pairs_[pair(text, at)]
                                                  : singles_[static_cast<unsigned char>(text[at])];
      if (!may_begin) continue;
      const Match match = longest_at(text, at);
      if (match.number >= 0) return match;
    }
  }
  return {text.size(), 0, -1};
}

}  // namespace farfield::data
