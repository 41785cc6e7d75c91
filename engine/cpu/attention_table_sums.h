#pragma once
// Gradients of tables: sums over the diagonals of tiles, or over all pairs that read an entry.

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/cpu/attention_entry_ranges.h"
#include "engine/cpu/attention_gradient_tile.h"
#include "engine/storage.h"

namespace farfield::attention_cpu {

/// part[d - base] += sums over the diagonals of a tile, d being their distance.
template <class A>
void add_diagonals(const TileView& view, const A* tile, int64_t base, A* part) {
  constexpr int64_t kWidth = kLanes<A>;
  const int64_t count = view.rows + view.cols - 1, top = view.offset + view.rows - 1;
  for (int64_t x = 0; x < count; x += kWidth) {
    // Diagonal x holds key x - (rows - 1) + i of query i: distance top - x.
    const int64_t shift = x - (view.rows - 1);
    const int64_t begin = std::max<int64_t>(0, -shift - (kWidth - 1));
    const int64_t end = std::min(view.rows, view.cols - shift);
    Vec<A> sums[4] = {};
    const A* from = tile + begin * (kScoreStride + 1) + shift;
    int64_t i = begin;
    for (; i + 4 <= end; i += 4, from += 4 * (kScoreStride + 1))
      for (int64_t u = 0; u < 4; ++u) sums[u] += load(from + u * (kScoreStride + 1));
    for (; i < end; ++i, from += kScoreStride + 1) sums[0] += load(from);
    A lane[kWidth];
    store<A>(lane, (sums[0] + sums[1]) + (sums[2] + sums[3]));
    const int64_t last = std::min({kWidth, count - x, top - x + 1});  // distances stay >= 0
    for (int64_t u = 0; u < last; ++u) part[top - x - u - base] += lane[u];
  }
}

/// part[q - k[j] - base] += row[j] for the keys of a run; equal neighbours are summed first.
template <class A>
void add_by_id(const EntryRun& run, const A* row, int64_t base, double* part) {
  for (int64_t j = run.begin; j < run.end;) {
    const int32_t id = run.k[j];
    A sum = row[j];
    for (++j; j < run.end && run.k[j] == id; ++j) sum += row[j];
    part[run.q - id - base] += static_cast<double>(sum);
  }
}

/// Where a unit sums one table's gradient.
template <class A>
struct TablePart {
  A* by_distance = nullptr;  ///< from distance `base` on; null: no gradient wanted
  int64_t base = 0;
  double *near = nullptr, *far = nullptr;  ///< by ids
  EntryRanges::Unit ranges = {};

  explicit operator bool() const { return by_distance != nullptr; }

  void add(const TileView& view, const Entries& entries, const A* tile) const {
    if (!entries.by_id(view)) return add_diagonals(view, tile, base, by_distance);
    const Branches branches = entries.branches(view);
    for (int64_t i = 0; i < view.rows; ++i) {
      const A* const row = tile + i * kScoreStride;
      for_each_run(entries, view, branches, i, [&](const EntryRun& run) {
        if (run.is_far)
          add_by_id(run, row, ranges.far.begin, far);
        else if (run.k)
          add_by_id(run, row, ranges.near.begin, near);
        else
          for (int64_t j = run.begin; j < run.end; ++j) by_distance[run.q - j - base] += row[j];
      });
    }
  }
};

/// Numbers in float64, 0 at first.
class Totals {
 public:
  explicit Totals(int64_t n) : storage_(n * static_cast<int64_t>(sizeof(double)), Device{}) {
    parallel_chunks(n, int64_t{1} << 16,
                    [&](int64_t begin, int64_t end) { std::fill(at(begin), at(end), 0.0); });
  }
  double* at(int64_t i) const { return static_cast<double*>(storage_.data()) + i; }

 private:
  Storage storage_;
};

/// One table's gradient. Each unit sums into its own part, by diagonals of tiles if entries are
/// distances; after a round the parts are added up in the order of the chunks, in float64.
template <class A>
class TableSums {
 public:
  TableSums(bool wanted, int64_t heads, int64_t n_entry, const Chunks& chunks,
            const EntryRanges* ranges = nullptr)
      : wanted_(wanted),
        n_entry_(n_entry),
        chunks_(chunks),
        ranges_(ranges),
        id_size_(ranges ? ranges->size() : 0),
        distance_part_(bytes<A>(heads * chunks.count * distance_size()), Device{}),
        id_part_(bytes<double>(heads * id_size_), Device{}),
        total_(wanted ? heads * n_entry : 0) {}

  bool wanted() const { return wanted_; }
  /// The part of a unit, as zeros.
  TablePart<A> cleared_part(int64_t head, int64_t batch, int64_t c, int64_t round) const {
    const TablePart<A> part = part_of(head, batch, c, round);
    if (!part) return part;
    std::fill_n(part.by_distance, distance_size(), A{0});
    if (part.near) std::fill_n(part.near, part.ranges.near.size() + part.ranges.far.size(), 0.0);
    return part;
  }
  /// total += the part of a unit of this round.
  void add_part(int64_t head, int64_t batch, int64_t c, int64_t round) const {
    const TablePart<A> part = part_of(head, batch, c, round);
    if (!part) return;
    const auto add = [&](int64_t base, int64_t size, const auto* from) {
      double* const to = total_.at(head * n_entry_ + base);
      const int64_t count = std::min(size, n_entry_ - base);
      for (int64_t x = 0; x < count; ++x) to[x] += static_cast<double>(from[x]);
    };
    add(part.base, distance_size(), part.by_distance);
    if (part.near == nullptr) return;
    add(part.ranges.near.begin, part.ranges.near.size(), part.near);
    add(part.ranges.far.begin, part.ranges.far.size(), part.far);
  }
  /// table[h, d] = sum over the batch, in order, of total[batch, h, d].
  void finish(int64_t n_batch, Tensor& table) const {
    if (!wanted_) return;
    const int64_t size = table.numel();
    const double* const from = total_.at(0);
    A* const to = table.data<A>();
    parallel_chunks(size, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double sum = 0;
        for (int64_t batch = 0; batch < n_batch; ++batch) sum += from[batch * size + i];
        to[i] = static_cast<A>(sum);
      }
    });
  }

 private:
  template <class X>
  int64_t bytes(int64_t n) const {
    return wanted_ ? n * static_cast<int64_t>(sizeof(X)) : 0;
  }
  int64_t distance_size() const { return 2 * chunks_.size; }
  TablePart<A> part_of(int64_t head, int64_t batch, int64_t c, int64_t round) const {
    TablePart<A> part;
    if (!wanted_) return part;
    part.by_distance =
        static_cast<A*>(distance_part_.data()) + (head * chunks_.count + c) * distance_size();
    part.base = chunks_.smallest_distance(round);
    if (id_size_ == 0) return part;
    part.ranges = ranges_->unit(batch, c);
    part.near = static_cast<double*>(id_part_.data()) + head * id_size_ + part.ranges.offset;
    part.far = part.near + part.ranges.near.size();
    return part;
  }

  bool wanted_;
  int64_t n_entry_;
  Chunks chunks_;
  const EntryRanges* ranges_;
  int64_t id_size_;
  Storage distance_part_;  // [heads, chunks, 2 * chunk]
  Storage id_part_;        // [heads, id_size], float64
  Totals total_;           // [heads, n_entry]
};

}  // namespace farfield::attention_cpu
