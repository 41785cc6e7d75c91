#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/mixture.h"
#include "data/sequences.h"

namespace farfield::data {

/// Tokens for one optimizer step.
struct Batch {
  std::vector<int32_t> inputs;   ///< [batch_size, seq_len]
  std::vector<int32_t> targets;  ///< [batch_size, seq_len], the token behind each input
  /// [batch_size], for each row: its source, and its place in the source.
  struct Row {
    size_t source = 0;
    int64_t index = 0;  ///< sequence of the source
    Sequences::Place place;
  };
  std::vector<Row> rows;
};

/// Batches for training: batch(step) is a pure function of the sources, the sizes, the seed and the
/// step, so resuming reads the same tokens, on any number of processes. Copies share the sources.
class Loader {
 public:
  struct Source {
    std::shared_ptr<const Sequences> sequences;
    double weight = 1;  ///< share of the rows, relative to the others'
  };

  /// ConfigError for sizes below 1 and weights that Mixture refuses.
  Loader(std::vector<Source> sources, int64_t batch_size, int64_t seq_len, uint64_t seed);
  /// Of one row of tokens in our own order (ShuffledWindows).
  Loader(Tokens tokens, int64_t batch_size, int64_t seq_len, uint64_t seed);

  Batch batch(int64_t step) const;
  /// The sequence of a row of the training, counted from 0 over all steps.
  Batch::Row row(int64_t i) const;
  /// Sequences in an epoch of a source.
  int64_t per_epoch(size_t source = 0) const { return sources_[source].sequences->per_epoch(); }

 private:
  std::vector<Source> sources_;
  Mixture mixture_;
  int64_t batch_size_, seq_len_;
};

}  // namespace farfield::data
