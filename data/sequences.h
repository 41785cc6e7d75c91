#pragma once

#include <cstdint>

#include "data/grid.h"
#include "data/tokens.h"

namespace farfield::data {

/// Sequences of seq_len + 1 tokens from one row of tokens, in the order of training. Sequence i is
/// a pure function of the constructor's arguments: inputs are its first seq_len tokens, targets its
/// last.
class Sequences {
 public:
  virtual ~Sequences() = default;
  Sequences(const Sequences&) = delete;
  Sequences& operator=(const Sequences&) = delete;

  struct Place {
    int64_t epoch = 0;   ///< how many times all of the row was read before
    int64_t begin = 0;   ///< its first token in the row
    int64_t window = 0;  ///< its number among the row's, in the order of their places
  };
  virtual Place place(int64_t i) const = 0;
  /// seq_len + 1 tokens to out.
  virtual void copy(int64_t i, int32_t* out) const = 0;
  /// How many an epoch has.
  virtual int64_t per_epoch() const = 0;

 protected:
  Sequences() = default;
};

/// Our own order: the row, documents one after another, is cut into windows of seq_len + 1 tokens
/// with stride seq_len (the last token of one is the first of the next). An epoch takes every
/// window once, in a pseudo-random order of its own that is computed, not stored. data/README.md
/// spells it out. Where windows must stay within documents, each document is cut by itself.
/// Source    the sampling of GPT-NeoX, megatron/data/gpt2_dataset.py, with a
/// computed order
class ShuffledWindows final : public Sequences {
 public:
  /// `document_tokens` as Corpus::document_tokens() has it. ConfigError when the tokens, or those
  /// of a document, do not fill one window.
  ShuffledWindows(Tokens tokens, int64_t seq_len, uint64_t seed, int64_t document_tokens = 0);

  Place place(int64_t i) const override;
  void copy(int64_t i, int32_t* out) const override;
  int64_t per_epoch() const override { return windows_.size(); }

 private:
  Tokens tokens_;
  int64_t seq_len_;
  Grid windows_;
  uint64_t seed_;
};

}  // namespace farfield::data
