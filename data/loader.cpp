#include "data/loader.h"

#include <algorithm>

#include "data/permutation.h"
#include "engine/base/error.h"
#include "engine/base/random.h"

namespace farfield::data {

Loader::Loader(Tokens tokens, int64_t batch_size, int64_t seq_len, uint64_t seed)
    : tokens_(std::move(tokens)), batch_size_(batch_size), seq_len_(seq_len), seed_(seed) {
  require<ConfigError>(batch_size > 0 && seq_len > 0, "loader",
                       "expected a batch size and a length of at least 1, got ", batch_size,
                       " and ", seq_len);
  require<ConfigError>(seq_len < tokens_.size(), "loader", "expected at least ", seq_len,
                       " + 1 tokens for a length of ", seq_len, ", got ", tokens_.size(),
                       "; train shorter or prepare more text");
  n_windows_ = (tokens_.size() - 1) / seq_len;
}

Batch Loader::batch(int64_t step) const {
  int64_t first = 0, last = 0;
  require<ConfigError>(step >= 0 && !__builtin_mul_overflow(step, batch_size_, &first) &&
                           !__builtin_add_overflow(first, batch_size_, &last),
                       "loader", "expected a step that can be counted, got ", step);
  Batch batch;
  const auto size = static_cast<size_t>(batch_size_ * seq_len_);
  batch.inputs.resize(size);
  batch.targets.resize(size);
  batch.begins.reserve(static_cast<size_t>(batch_size_));
  batch.epoch = first / n_windows_;
  for (int64_t row = 0; row < batch_size_; ++row) {
    const auto epoch = static_cast<uint64_t>((first + row) / n_windows_);
    const Permutation order(n_windows_, seed_, stream_of("window order") + epoch);
    const int64_t begin = order[(first + row) % n_windows_] * seq_len_;
    tokens_.copy(begin, seq_len_, batch.inputs.data() + row * seq_len_);
    tokens_.copy(begin + 1, seq_len_, batch.targets.data() + row * seq_len_);
    batch.begins.push_back(begin);
  }
  return batch;
}

}  // namespace farfield::data
