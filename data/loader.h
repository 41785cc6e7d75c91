#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/mixture.h"
#include "data/sequences.h"

namespace farfield::data {

/// The target of a place that is not scored.
inline constexpr int32_t kNotScored = -1;

/// Tokens for one optimizer step.
struct Batch {
  size_t part = 0;               ///< Loader::Part that the step is of
  int64_t seq_len = 0;           ///< its length
  std::vector<int32_t> inputs;   ///< [batch_size, seq_len]
  std::vector<int32_t> targets;  ///< [batch_size, seq_len], the token behind each input; of a task
                                 ///< and under a mask kNotScored where it is not asked for
  /// [batch_size], for each row: its source, and its place in the source.
  struct Row {
    size_t source = 0;
    int64_t index = 0;  ///< sequence of the source
    Sequences::Place place;
  };
  std::vector<Row> rows;
};

/// Batches for training: batch(step) is a pure function of the sources, the sizes, the seed and the
/// step, so resuming reads the same tokens, on any number of processes. All sequences of a step
/// have the same length; steps may have different ones. Copies share the sources.
class Loader {
 public:
  struct Source {
    std::shared_ptr<const Sequences> sequences;
    double weight = 1;  ///< share of the rows, relative to the others'
  };

  /// The steps of one length. Mixture deals them by their shares.
  struct Part {
    double share = 1;  ///< of the steps, relative to the others'
    int64_t seq_len = 1;
    std::vector<Source> sources;
  };

  /// ConfigError for sizes below 1 and weights or shares that Mixture refuses.
  Loader(std::vector<Part> parts, int64_t batch_size, uint64_t seed);
  Loader(std::vector<Source> sources, int64_t batch_size, int64_t seq_len, uint64_t seed);
  /// Of one row of tokens in our own order (ShuffledWindows).
  Loader(Tokens tokens, int64_t batch_size, int64_t seq_len, uint64_t seed);

  Batch batch(int64_t step) const;
  /// Sequences in an epoch of a source.
  int64_t per_epoch(size_t source = 0, size_t part = 0) const {
    return parts_[part].sources[source].sequences->per_epoch();
  }

 private:
  std::vector<Part> parts_;
  Mixture lengths_;                // of the steps
  std::vector<Mixture> mixtures_;  // of the rows of each part
  int64_t batch_size_;
};

}  // namespace farfield::data
