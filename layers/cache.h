#pragma once

#include <vector>

#include "engine/heads.h"
#include "layers/row_buffer.h"
#include "layers/sequence_part.h"

namespace farfield {

/// The key-value cache of one layer, for sequences that are fed in parts: the keys and values that
/// a later token may see.
class CachedLayer {
 public:
  /// Caches the last `window` tokens (0: all) and the first `sinks`, of sequences of seq_len.
  CachedLayer(int64_t window, int64_t sinks, int64_t seq_len)
      : window_(window), sinks_(sinks), k_(seq_len), v_(seq_len), far_k_(seq_len) {}

  /// Tokens so far, kept or not.
  int64_t n_seen() const { return n_seen_; }
  /// Puts the cached keys and values before the keys and values of the next tokens, heads [B, H, n,
  /// K] (the far keys too), caches what later tokens may see, and returns the positions that heads
  /// has now. The heads get the cache's storage, with room (Heads::key_rows), until the next call.
  SequencePart append(Heads& heads);
  /// Makes the tokens of one sequence the tokens of n.
  void repeat(int64_t n);
  /// Bytes of the cached tokens; storage has room for up to twice as many, or four times with a
  /// window.
  int64_t size_bytes() const;
  /// Pairs of a query and a key that it sees, so far, for one head of one sequence.
  int64_t n_scores() const { return n_scores_; }

 private:
  int64_t window_, sinks_;
  int64_t n_seen_ = 0, n_scores_ = 0;
  int64_t begin_ = 0, n_sink_ = 0;  // kept are positions 0 .. n_sink - 1 and begin .. n_seen - 1
  RowBuffer k_, v_, far_k_;         // [B, H, n_sink + n_seen - begin, K]; far_k_ may stay empty
};

/// The key-value cache of a model, for sequences that are fed in parts (Transformer::extend()).
/// Each layer caches as many tokens as its window, so memory stays constant once the window is
/// full: 2 n_layer window d_model numbers a sequence, 3 for encodings with far keys of their own.
///
/// All tables come from one plan for the length that the sequences will have, so an encoding that
/// depends on it (rope_dynamic_ntk, xpos, ...) acts as in one pass over all of them.
class KeyValueCache {
 public:
  /// n_sequence sequences of up to seq_len tokens. An n_cached above 0 adds window(n_cached) to
  /// every layer of the encoding: the output equals a pass over the whole sequence with this mask,
  /// not fresh passes over the last n_cached tokens. The first n_sink tokens then stay, too. An
  /// n_cached of seq_len or more is no limit.
  ///
  /// Throws    ConfigError for an n_cached below 0; for a length that the encoding cannot reach or
  ///           a window that it cannot have; for an input embedding when tokens are to be dropped:
  ///           the keys that stay carry old position numbers, so that the last n_cached tokens have
  ///           to be run afresh instead; for a row-dependent bias beside sinks
  /// Source    Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of
  ///           Receptive Field Analysis", arXiv:2212.10356, appendix B
  KeyValueCache(const posenc::Composition& encoding, int64_t n_sequence, int64_t seq_len,
                int64_t n_cached = 0, uint64_t draw = 0, int64_t n_sink = 0);

  int64_t n_sequence() const { return n_sequence_; }
  int64_t seq_len() const { return seq_len_; }
  /// Tokens so far of each sequence.
  int64_t n_seen() const { return layers_[0].n_seen(); }
  /// Makes its one sequence n sequences with the same tokens, which then go on by themselves.
  /// ConfigError for a cache of several.
  void repeat(int64_t n);
  /// Forgets all tokens, for the next sequences.
  void reset();
  /// Bytes of the cache now.
  int64_t size_bytes() const;
  const posenc::Composition::Plan& plan() const { return plan_; }
  std::vector<CachedLayer>& layers() { return layers_; }
  const std::vector<CachedLayer>& layers() const { return layers_; }

 private:
  int64_t n_sequence_, seq_len_;
  posenc::Composition::Plan plan_;
  std::vector<CachedLayer> layers_;
};

}  // namespace farfield
