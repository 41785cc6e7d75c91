#pragma once

#include <cstdint>
#include <vector>

#include "data/tokens.h"

namespace farfield::data {

/// Tokens for one optimizer step.
struct Batch {
  std::vector<int32_t> inputs;   ///< [batch_size, seq_len]
  std::vector<int32_t> targets;  ///< [batch_size, seq_len], the token behind each input
  std::vector<int64_t> begins;   ///< [batch_size], where each row's inputs begin in the token file
  int64_t epoch = 0;             ///< of the first row
};

/// Batches for training: batch(step) is a pure function of the file, the sizes, the seed and the
/// step, so resuming reads the same tokens, on any number of processes.
///
/// The file, documents one after another, is cut into windows of seq_len + 1 tokens with stride
/// seq_len (the last token of one is the first of the next). An epoch takes every window once, in
/// an order of its own; batches run on across epochs. Source    the sampling of GPT-NeoX,
/// megatron/data/gpt2_dataset.py, with a computed order
class Loader {
 public:
  /// ConfigError when the tokens do not fill one window.
  Loader(Tokens tokens, int64_t batch_size, int64_t seq_len, uint64_t seed);

  Batch batch(int64_t step) const;
  /// Windows of an epoch.
  int64_t n_windows() const { return n_windows_; }

 private:
  Tokens tokens_;
  int64_t batch_size_, seq_len_, n_windows_;
  uint64_t seed_;
};

}  // namespace farfield::data
