#include "data/loader.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/hash.h"

namespace farfield::data {
namespace {

Mixture mixture_of(const std::vector<Loader::Source>& sources, uint64_t seed) {
  std::vector<double> weights;
  for (const Loader::Source& source : sources) weights.push_back(source.weight);
  return {weights, seed};
}

Mixture mixture_of(const std::vector<Loader::Part>& parts, uint64_t seed) {
  std::vector<double> shares;
  for (const Loader::Part& part : parts) shares.push_back(part.share);
  return {shares, hash64(concat("lengths ", seed))};  // apart from the mixtures of rows
}

std::vector<Loader::Part> only_part(std::vector<Loader::Source> sources, int64_t seq_len) {
  std::vector<Loader::Part> parts(1);
  parts.front().seq_len = seq_len;
  parts.front().sources = std::move(sources);
  return parts;
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

Loader::Loader(std::vector<Part> parts, int64_t batch_size, uint64_t seed)
    : parts_(std::move(parts)), lengths_(mixture_of(parts_, seed)), batch_size_(batch_size) {
  for (const Part& part : parts_) {
    check_sizes(batch_size, part.seq_len);
    mixtures_.push_back(mixture_of(part.sources, seed));
  }
}

Loader::Loader(std::vector<Source> sources, int64_t batch_size, int64_t seq_len, uint64_t seed)
    : Loader(only_part(std::move(sources), seq_len), batch_size, seed) {}

Loader::Loader(Tokens tokens, int64_t batch_size, int64_t seq_len, uint64_t seed)
    : Loader(only_source(std::move(tokens), batch_size, seq_len, seed), batch_size, seq_len, seed) {
}

Batch Loader::batch(int64_t step) const {
  int64_t last = 0;
  require<ConfigError>(step >= 0 && !__builtin_mul_overflow(step, batch_size_, &last) &&
                           !__builtin_add_overflow(last, batch_size_, &last),
                       "loader", "expected a step that can be counted, got ", step);
  const Mixture::Row at = lengths_[step];
  const Part& part = parts_[at.source];
  Batch batch;
  batch.part = at.source;
  batch.seq_len = part.seq_len;
  const auto size = static_cast<size_t>(batch_size_ * part.seq_len);
  batch.inputs.resize(size);
  batch.targets.resize(size);
  std::vector<int32_t> sequence(static_cast<size_t>(part.seq_len) + 1);
  for (int64_t r = 0; r < batch_size_; ++r) {
    const Mixture::Row found = mixtures_[at.source][at.index * batch_size_ + r];
    const Sequences& sequences = *part.sources[found.source].sequences;
    batch.rows.push_back({found.source, found.index, sequences.place(found.index)});
    sequences.copy(found.index, sequence.data());
    std::copy(sequence.begin(), sequence.end() - 1, batch.inputs.begin() + r * part.seq_len);
    std::copy(sequence.begin() + 1, sequence.end(), batch.targets.begin() + r * part.seq_len);
  }
  return batch;
}

}  // namespace farfield::data
