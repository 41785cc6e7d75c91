#pragma once

#include <algorithm>
#include <vector>

#include "engine/cpu/attention_chunks.h"

namespace farfield::attention_cpu {

/// Which entries of a table the units of a round may read by ids: a unit sums their gradients in a
/// part of its own, which need not be longer than that. Ids do not fall, so that the parts of a
/// round are about as long together as the tables.
class EntryRanges {
 public:
  struct Unit {
    Range near, far;     ///< entries
    int64_t offset = 0;  ///< of its part, which holds first these, then those
  };

  /// Empty when pairs read by distance alone.
  template <class T>
  EntryRanges(const Problem<T>& p, const Chunks& chunks) {
    if (!p.ids && !p.far_ids_q) return;
    n_sequence_ = p.ids_per_sequence ? p.n_batch : 1;
    for (int64_t round = 0; round < chunks.count; ++round) start_round(p, chunks, round);
  }

  /// Makes unit() speak of this round.
  template <class T>
  void start_round(const Problem<T>& p, const Chunks& chunks, int64_t round) {
    units_.clear();
    n_chunk_ = chunks.count - round;
    for (int64_t sequence = 0; sequence < n_sequence_; ++sequence) {
      int64_t size = 0;
      for (int64_t c = 0; c < n_chunk_; ++c) {
        Unit unit =
            ranges(p, p.entries_of(sequence), chunks.keys(p, c), chunks.queries(p, c + round));
        unit.offset = size;
        size += unit.near.size() + unit.far.size();
        units_.push_back(unit);
      }
      largest_size_ = std::max(largest_size_, size);
    }
  }
  const Unit& unit(int64_t batch, int64_t c) const {
    return units_[static_cast<size_t>((n_sequence_ > 1 ? batch : 0) * n_chunk_ + c)];
  }
  /// Elements of the parts of a head, in any round.
  int64_t size() const { return largest_size_; }

 private:
  template <class T>
  Unit ranges(const Problem<T>& p, const Entries& entries, Range keys, Range queries) const {
    Unit unit;
    if (queries.empty()) return unit;
    const TileView view = p.view(queries.begin, queries.size(), keys.begin, keys.size());
    if (view.sees_nothing()) return unit;
    const auto differences = [&](const int32_t* q, const int32_t* k) {
      const auto difference = [&](int64_t i, int64_t j) { return int64_t{q[i]} - k[j]; };
      const Range all{std::max(difference(0, keys.end - 1), int64_t{0}),
                      std::min(difference(queries.size() - 1, keys.begin) + 1, p.n_entry)};
      return all.empty() ? Range{} : all;
    };
    if (entries.ids) unit.near = differences(entries.ids + view.position, entries.ids);
    if (entries.far_q && entries.branches(view).has_far)
      unit.far = differences(entries.far_q + queries.begin, entries.far_k);
    return unit;
  }

  int64_t n_sequence_ = 0, n_chunk_ = 0, largest_size_ = 0;
  std::vector<Unit> units_;
};

}  // namespace farfield::attention_cpu
