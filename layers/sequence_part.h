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

/// What a rule for queries and keys 0 .. L - 1 asks of a part of them, so that each of its queries
/// gets the output that it has among all. Keys that are left out must be hidden from the queries by
/// the rule's window. ConfigError for a row-dependent bias with keys left out behind sinks: it goes
/// by distance, and those of sinks are cut short.
AttentionRule part_of(const AttentionRule& rule, const SequencePart& part);

/// Rows first .. end - 1 of a table with a row for each position, [T, X] or [B, T, X]; undefined
/// stays undefined.
Tensor part_of(const Tensor& table, int64_t first, int64_t end);
Rotation part_of(const Rotation& rotation, int64_t first, int64_t end);

}  // namespace farfield
