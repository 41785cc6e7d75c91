#include "data/sequences.h"

#include <utility>

#include "data/permutation.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {

ShuffledWindows::ShuffledWindows(Tokens tokens, int64_t seq_len, uint64_t seed,
                                 int64_t document_tokens)
    : tokens_(std::move(tokens)),
      seq_len_(seq_len),
      windows_(Grid::windows(tokens_.size(), document_tokens, seq_len)),
      seed_(seed) {
  require<ConfigError>(document_tokens == 0 || seq_len < document_tokens, "loader",
                       "not_enough_data: expected a length below the length of the documents, ",
                       document_tokens, " tokens, which windows of this corpus stay within, got ",
                       seq_len, "; train shorter or make a corpus of longer documents");
  require<ConfigError>(windows_.size() > 0, "loader", "expected at least ", seq_len,
                       " + 1 tokens for a length of ", seq_len, ", got ", tokens_.size(),
                       "; train shorter or prepare more text");
}

Sequences::Place ShuffledWindows::place(int64_t i) const {
  const int64_t epoch = i / windows_.size();
  const Permutation order(windows_.size(), seed_,
                          stream_of("window order") + static_cast<uint64_t>(epoch));
  const int64_t window = order[i % windows_.size()];
  return {epoch, windows_[window], window};
}

void ShuffledWindows::copy(int64_t i, int32_t* out) const {
  tokens_.copy(place(i).begin, seq_len_ + 1, out);
}

}  // namespace farfield::data
