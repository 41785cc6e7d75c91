#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "data/sequences.h"
#include "data/tokens.h"

namespace farfield::data {

/// The shuffle of numpy's RandomState for up to 2^32 values: for i = n - 1 ... 1 swaps a[i] with
/// a[j], j drawn from 0 ... i by masking numbers of the generator and drawing again while too
/// large. ConfigError for more values.
void numpy_shuffle(std::span<uint32_t> values, std::mt19937& generator);

/// The samples of GPT-NeoX in its order, bit for bit: repeats the batches of its runs.
///
/// The documents are taken E times, E the smallest number of epochs that gives the samples asked
/// for, shuffled as one list and joined. Sample s is the S + 1 tokens from s S on, so that
/// neighbours share one; the samples' order is shuffled by the same generator, which goes on. Batch
/// t of size B has the samples at the places [t B, t B + B) of that order. The order depends on how
/// many samples are asked for: steps times batch size of the whole run.
///
/// O(E documents + samples) of memory.
/// Source    GPT-NeoX, megatron/data/gpt2_dataset.py, _build_index_mappings
class NeoxOrder final : public Sequences {
 public:
  /// `begins` as Corpus::document_begins() returns it of these tokens; what stands behind the last
  /// is a document too. ConfigError for sizes below 1, tokens that do not fill a sample, and lists
  /// of 2^32 entries or more.
  NeoxOrder(Tokens tokens, std::vector<int64_t> begins, int64_t seq_len, int64_t samples,
            uint32_t seed);

  /// Samples of the E epochs: at least as many as asked for. GPT-NeoX begins again behind them,
  /// here that is an error.
  int64_t size() const { return static_cast<int64_t>(samples_.size()); }
  int64_t epochs() const { return epochs_; }

  /// The sample at place i of the order. ConfigError for i outside [0, size()), here and below.
  int64_t sample(int64_t i) const;
  /// Where this sample begins in the tokens. Documents of all epochs are shuffled together, so the
  /// epoch is how often as many tokens as there are were read before.
  Place place(int64_t i) const override;
  /// Its tokens, which run from document to document of the order.
  void copy(int64_t i, int32_t* out) const override;
  int64_t per_epoch() const override { return (begins_.back() + seq_len_ - 1) / seq_len_; }

  /// Where a sample begins: an entry of the documents' order, and tokens behind the document's
  /// first.
  struct Begin {
    int64_t entry = 0, offset = 0;
  };
  /// Of sample s, 0 <= s <= size(); for size() the last token of the last sample.
  Begin begin(int64_t s) const;
  /// The documents' order, by their numbers.
  const std::vector<uint32_t>& documents() const { return documents_; }

 private:
  Begin begin_of(int64_t token) const;  // of the joined row

  Tokens tokens_;
  int64_t seq_len_, epochs_ = 0;
  std::vector<int64_t> begins_;      // of each document in the tokens, and the end of the last
  std::vector<uint32_t> documents_;  // E times all, shuffled
  std::vector<int64_t> at_;          // of each of these in the joined row, and the end of the last
  std::vector<uint32_t> samples_;    // shuffled
};

}  // namespace farfield::data
