#include "data/document_starts.h"

#include <utility>

#include "data/permutation.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {

DocumentStarts::DocumentStarts(Tokens tokens, const std::vector<int64_t>& begins, int64_t seq_len,
                               uint64_t seed)
    : tokens_(std::move(tokens)), seq_len_(seq_len), seed_(seed) {
  int64_t longest = 0;
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t size = (i + 1 < begins.size() ? begins[i + 1] : tokens_.size()) - begins[i];
    longest = std::max(longest, size);
    if (size > seq_len) begins_.push_back(begins[i]);
  }
  require<ConfigError>(!begins_.empty(), "loader", "not_enough_data: expected a document of ",
                       seq_len, " + 1 tokens for rows of ", seq_len,
                       " that begin with a document, got at most ", longest, " tokens");
}

Sequences::Place DocumentStarts::place(int64_t i) const {
  const int64_t n = per_epoch(), epoch = i / n;
  const Permutation order(n, seed_, stream_of("document order") + static_cast<uint64_t>(epoch));
  const int64_t document = order[i % n];
  return {epoch, begins_[static_cast<size_t>(document)], document};
}

void DocumentStarts::copy(int64_t i, int32_t* out) const {
  tokens_.copy(place(i).begin, seq_len_ + 1, out);
}

}  // namespace farfield::data
