#pragma once
// Which entry of a table a pair reads, when that is not its distance.

#include <algorithm>
#include <cstdint>

#include "engine/cpu/attention_far.h"

namespace farfield::attention_cpu {

/// The ids of one sequence. A pair of query i (of all) at position m and key n reads
/// far_q[i] - far_k[n] when it is far and these are given, else ids[m] - ids[n] when these are
/// given, else its distance m - n.
struct Entries {
  const int32_t* ids = nullptr;                      // by position
  const int32_t *far_q = nullptr, *far_k = nullptr;  // by query, by key
  FarPairs far_pairs = {};
  int64_t first_position = 0;  // of query 0

  /// Whether some pair of the tile reads another entry than its distance.
  bool by_id(const TileView& view) const { return ids || (far_q && branches(view).has_far); }
  /// Here a pair is far if it reads far_q and far_k.
  Branches branches(const TileView& view) const { return {view, far_q ? far_pairs : FarPairs{}}; }
};

/// Keys [begin, end) of a tile that a query sees, all near or all far. Key j reads entry
/// q - k[j], or distance - j when k is null.
struct EntryRun {
  int64_t begin, end;
  bool is_far;
  int64_t q;
  const int32_t* k;
};

/// f(run) for query i of the tile, from the first key on; together the runs hold the keys that it
/// sees.
template <class F>
void for_each_run(const Entries& entries, const TileView& view, const Branches& branches, int64_t i,
                  const F& f) {
  const int64_t end = std::clamp(view.offset + i + 1, int64_t{0}, view.cols);
  const bool has_window = view.window > 0;
  const int64_t first =
      has_window ? std::clamp(view.offset + i - view.window + 1, int64_t{0}, end) : 0;
  const int64_t sinks = std::min(view.sinks, first);
  const int64_t far_end = branches.far_end(i), position = view.position + i;
  const int64_t first_key = view.position - view.offset;
  const auto near = [&](int64_t from, int64_t to) {
    if (from >= to) return;
    if (entries.ids)
      f(EntryRun{from, to, false, entries.ids[position], entries.ids + first_key});
    else
      f(EntryRun{from, to, false, view.offset + i, nullptr});
  };
  const auto far = [&](int64_t from, int64_t to) {
    if (from >= to) return;
    f(EntryRun{from, to, true, entries.far_q[position - entries.first_position],
               entries.far_k + first_key});
  };
  const auto both = [&](int64_t from, int64_t to) {
    far(from, std::min(to, far_end));
    near(std::max(from, far_end), to);
  };
  both(0, sinks);
  both(first, end);
}

}  // namespace farfield::attention_cpu
