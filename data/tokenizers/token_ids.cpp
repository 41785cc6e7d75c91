#include "data/tokenizers/token_ids.h"

#include <algorithm>
#include <bit>

#include "engine/base/hash.h"

namespace farfield::data {

TokenIds::TokenIds(std::span<const std::string> tokens)
    : tokens_(tokens), slots_(std::bit_ceil(std::max<size_t>(16, 2 * tokens.size())), -1) {
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) continue;
    int32_t& slot = slots_[place(tokens[id])];
    if (slot >= 0)
      twice_ = static_cast<int32_t>(id);
    else
      slot = static_cast<int32_t>(id);
  }
}

size_t TokenIds::place(std::string_view bytes) const {
  size_t at = hash64(bytes) & (slots_.size() - 1);
  while (slots_[at] >= 0 && tokens_[static_cast<size_t>(slots_[at])] != bytes)
    at = (at + 1) & (slots_.size() - 1);
  return at;
}

int32_t TokenIds::find(std::string_view bytes) const { return slots_[place(bytes)]; }

}  // namespace farfield::data
