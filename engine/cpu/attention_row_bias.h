#pragma once
// A bias that depends on the query's position too: f(feature[d] * row_factor[i]) for distance d and
// query i, f piecewise linear. Features do not fall with the distance, so neither does the argument
// of f along a row: a row is a few runs of keys, one for each linear segment.

#include <algorithm>
#include <limits>

#include "engine/base/parallel.h"
#include "engine/cpu/lanes.h"
#include "engine/kernels/attention.h"
#include "engine/storage.h"

namespace farfield::attention_cpu {

using namespace lanes;

/// The row bias of one head.
template <class A>
struct HeadRowBias {
  const A* feature = nullptr;  ///< by distance; null: no such bias
  const A* row_factor = nullptr;
  const A *slope = nullptr, *offset = nullptr;  ///< by segment
  const int32_t* bounds = nullptr;  ///< [T, n_segment - 1]: the first distance of segment s + 1
  int64_t n_segment = 0;

  /// f(segment, begin, end) for query i and its keys [begin, end), run by run; key 0 is at
  /// `distance`. Keys after the query, which it does not see, count to segment 0.
  template <class F>
  void for_each_segment(int64_t i, int64_t distance, int64_t begin, int64_t end, const F& f) const {
    const int32_t *const bound = bounds + i * (n_segment - 1), *const last = bound + n_segment - 1;
    for (int64_t j = begin, s = std::upper_bound(bound, last, distance - begin) - bound; j < end;
         --s) {
      const int64_t stop = s == 0 ? end : std::min(end, distance - bound[s - 1] + 1);
      if (stop <= j) continue;
      f(s, j, stop);
      j = stop;
    }
  }

  /// row[j] = base[j] + f(...) for query i and keys 0 <= j < size, the first at `distance`; without
  /// base when it is null. `features` is read forwards: the feature of key j is features[j]. All
  /// have a vector of room after `size`.
  void add(int64_t i, int64_t distance, int64_t size, const A* features, const A* base,
           A* row) const {
    base ? add_to<true>(i, distance, size, features, base, row)
         : add_to<false>(i, distance, size, features, base, row);
  }

 private:
  template <bool kBase>
  void add_to(int64_t i, int64_t distance, int64_t size, const A* features, const A* base,
              A* row) const {
    for_each_segment(i, distance, 0, size, [&](int64_t s, int64_t begin, int64_t end) {
      const Vec<A> by = splat(slope[s] * row_factor[i]), plus = splat(offset[s]);
      // The last vector may reach into the next run, which then overwrites that.
      for (int64_t j = begin; j < end; j += kLanes<A>) {
        Vec<A> y = load(features + j) * by + plus;
        if constexpr (kBase) y = load(base + j) + y;
        store<A>(row + j, y);
      }
    });
  }
};

/// HeadRowBias of every head, and where the segments of every row begin.
template <class A>
class RowBiasTables {
 public:
  RowBiasTables(const RowBias& bias, int64_t n_query, int64_t n_key)
      : n_knot_(bias.feature.defined() ? bias.knots.numel() : 0),
        bounds_(n_query * n_knot_ * static_cast<int64_t>(sizeof(int32_t)), Device{}) {
    if (!bias.feature.defined()) return;
    all_ = {bias.feature.data<A>(),
            bias.row_factor.data<A>(),
            bias.slope.data<A>(),
            bias.offset.data<A>(),
            static_cast<const int32_t*>(bounds_.data()),
            n_knot_ + 1};
    const A *const feature = all_.feature, *const knots = bias.knots.data<A>();
    parallel_chunks(n_query, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const A factor = all_.row_factor[i];
        const A* from = feature;  // knots ascend, so the next bound is not before the last
        for (int64_t s = 0; s < n_knot_; ++s) {
          from = std::partition_point(from, feature + n_key,
                                      [&](A x) { return x * factor < knots[s]; });
          static_cast<int32_t*>(bounds_.data())[i * n_knot_ + s] =
              static_cast<int32_t>(from - feature);
        }
      }
    });
  }

  bool defined() const { return all_.feature != nullptr; }
  int64_t n_segment() const { return n_knot_ + 1; }
  HeadRowBias<A> of_head(int64_t h) const {
    HeadRowBias<A> one = all_;
    if (!defined()) return one;
    one.slope += h * n_segment();
    one.offset += h * n_segment();
    return one;
  }

 private:
  int64_t n_knot_;
  Storage bounds_;
  HeadRowBias<A> all_;  // head 0
};

}  // namespace farfield::attention_cpu
