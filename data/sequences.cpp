#include "data/sequences.h"

#include <utility>

#include "data/permutation.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {

ShuffledWindows::ShuffledWindows(Tokens tokens, int64_t seq_len, uint64_t seed)
    : tokens_(std::move(tokens)), seq_len_(seq_len), seed_(seed) {
  require<ConfigError>(seq_len < tokens_.size(), "loader", "expected at least ", seq_len,
                       " + 1 tokens for a length of ", seq_len, ", got ", tokens_.size(),
                       "; train shorter or prepare more text");
  n_windows_ = (tokens_.size() - 1) / seq_len;
}

Sequences::Place ShuffledWindows::place(int64_t i) const {
  const int64_t epoch = i / n_windows_;
  const Permutation order(n_windows_, seed_,
                          stream_of("window order") + static_cast<uint64_t>(epoch));
  return {epoch, order[i % n_windows_] * seq_len_};
}

void ShuffledWindows::copy(int64_t i, int32_t* out) const {
  tokens_.copy(place(i).begin, seq_len_ + 1, out);
}

}  // namespace farfield::data
