#include "data/loader.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"

namespace farfield::data {
namespace {

std::vector<double> weights_of(const std::vector<Loader::Source>& sources) {
  std::vector<double> weights;
  for (const Loader::Source& source : sources) weights.push_back(source.weight);
  return weights;
}

void check_sizes(int64_t batch_size, int64_t seq_len) {
  require<ConfigError>(batch_size > 0 && seq_len > 0, "loader",
                       "expected a batch size and a length of at least 1, got ", batch_size,
                       " and ", seq_len);
}

std::vector<Loader::Source> only_source(Tokens tokens, int64_t batch_size, int64_t seq_len,
                                        uint64_t seed) {
  check_sizes(batch_size, seq_len);
  return {{std::make_shared<ShuffledWindows>(std::move(tokens), seq_len, seed)}};
}

}  // namespace

Loader::Loader(std::vector<Source> sources, int64_t batch_size, int64_t seq_len, uint64_t seed)
    : sources_(std::move(sources)),
      mixture_(weights_of(sources_), seed),
      batch_size_(batch_size),
      seq_len_(seq_len) {
  check_sizes(batch_size, seq_len);
}

Loader::Loader(Tokens tokens, int64_t batch_size, int64_t seq_len, uint64_t seed)
    : Loader(only_source(std::move(tokens), batch_size, seq_len, seed), batch_size, seq_len, seed) {
}

Batch::Row Loader::row(int64_t i) const {
  const Mixture::Row found = mixture_[i];
  return {found.source, found.index, sources_[found.source].sequences->place(found.index)};
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
  std::vector<int32_t> sequence(static_cast<size_t>(seq_len_) + 1);
  for (int64_t r = 0; r < batch_size_; ++r) {
    const Batch::Row& at = batch.rows.emplace_back(row(first + r));
    sources_[at.source].sequences->copy(at.index, sequence.data());
    std::copy(sequence.begin(), sequence.end() - 1, batch.inputs.begin() + r * seq_len_);
    std::copy(sequence.begin() + 1, sequence.end(), batch.targets.begin() + r * seq_len_);
  }
  return batch;
}

}  // namespace farfield::data
