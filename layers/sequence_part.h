#pragma once

#include "posenc/composition.h"

namespace farfield {

/// The queries and keys of one call of attention, by their positions in a longer sequence: queries
/// first .. end - 1; keys 0 .. n_sink - 1, then begin .. end - 1.
struct SequencePart {
  int64_t first = 0;   ///< of the queries, begin <= first < end
  int64_t end = 0;     ///< behind the last query, which is the last key
  int64_t begin = 0;   ///< of the keys that are no sinks, n_sink <= begin
  int64_t n_sink = 0;  ///< keys from the start of the sequence

  int64_t n_key() const { return n_sink + end - begin; }
};

/// The rule for a part of a sequence, from the rule for all queries and keys 0 .. L - 1, so that
/// each query of the part gets the same output as in the whole sequence. The rule's window must
/// hide the keys that are left out. ConfigError for a row-dependent bias with keys left out behind
/// sinks: such a bias depends on distance, and the distances of sinks are shortened.
AttentionRule part_of(const AttentionRule& rule, const SequencePart& part);

/// Rows first .. end - 1 of a table with a row for each position, [T, X] or [B, T, X]; undefined
/// stays undefined.
Tensor part_of(const Tensor& table, int64_t first, int64_t end);
Rotation part_of(const Rotation& rotation, int64_t first, int64_t end);

}  // namespace farfield
