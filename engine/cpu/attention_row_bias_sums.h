#pragma once
// Gradients of a row-dependent bias: along a row, sums over the keys of each segment; over rows,
// sums over the diagonals for the features.

#include "engine/cpu/attention_problem.h"
#include "engine/cpu/attention_table_sums.h"

namespace farfield::attention_cpu {

/// All ones in the lanes before lane n.
template <class A>
IntVec<A> lanes_before(int64_t n) {
  using I = std::remove_reference_t<decltype(IntVec<A>{}[0])>;
  IntVec<A> lane{};
  for (int l = 0; l < kLanes<A>; ++l) lane[l] = l;
  return lane < static_cast<I>(n);
}

/// Where a unit sums them.
template <class A>
struct RowBiasPart {
  HeadRowBias<A> bias = {};
  A* sums = nullptr;             ///< [n_segment, 2, lanes], of a tile
  double* segments = nullptr;    ///< [n_segment, 2]: of offset and slope; null: none wanted
  double* row_factor = nullptr;  ///< by query
  TablePart<A> feature = {};

  explicit operator bool() const { return segments != nullptr; }

  void start_tile() const { std::fill_n(sums, 2 * bias.n_segment * kLanes<A>, A{0}); }

  /// Query i: its dS for `keys`, whole vectors, key 0 at `distance`; `features` as in
  /// HeadRowBias::add. dfeature gets each pair's term of its feature's gradient; or null.
  void add_row(int64_t i, int64_t distance, Range keys, const A* ds, const A* features,
               A* dfeature) const {
    const A factor = bias.row_factor[i];
    Vec<A> row{};
    const auto add_segment = [&](int64_t s, int64_t begin, int64_t end) {
      const Vec<A> slope = splat(bias.slope[s]), by = slope * splat(factor);
      Vec<A> plain{}, times_feature{};
      for (int64_t j = begin; j < end; j += kLanes<A>) {
        const Vec<A> all = load(ds + j);
        // Elements behind the end may be anything, even NaN.
        const auto is_own = lanes_before<A>(end - j);
        plain += is_own ? all : Vec<A>{};
        times_feature += is_own ? all * load(features + j) : Vec<A>{};
        if (dfeature) store<A>(dfeature + j, all * by);  // the next segment overwrites its part
      }
      A* const sum = sums + 2 * s * kLanes<A>;
      store<A>(sum, load(sum) + plain);
      store<A>(sum + kLanes<A>, load(sum + kLanes<A>) + times_feature * splat(factor));
      row += times_feature * slope;
    };
    bias.for_each_segment(i, distance, keys.begin, keys.end, add_segment);
    row_factor[i] += static_cast<double>(sum_of<A>(row));
  }

  void finish_tile(const TileView& view, const A* dfeature) const {
    for (int64_t x = 0; x < 2 * bias.n_segment; ++x)
      segments[x] += static_cast<double>(sum_of<A>(load(sums + x * kLanes<A>)));
    if (feature) feature.add(view, {}, dfeature);
  }
};

/// All of them: each unit's part, added up after a round in the order of the chunks, in float64.
template <class T>
class RowBiasSums {
 public:
  using A = Accumulate<T>;

  RowBiasSums(const Problem<T>& p, const RowBias& grads, const Chunks& chunks)
      : p_(p),
        n_chunk_(chunks.count),
        wanted_(grads.feature.defined() || grads.row_factor.defined() || grads.slope.defined() ||
                grads.offset.defined()),
        feature_(grads.feature.defined(), p.heads(), p.n_key, chunks),
        parts_(wanted_ ? p.heads() * n_chunk_ * part_size() : 0),
        segments_(wanted_ ? p.heads() * part_size() : 0),
        row_factor_(wanted_ ? p.heads() * p.n_query : 0) {}

  bool wanted() const { return wanted_; }
  bool wants_feature() const { return feature_.wanted(); }
  /// Elements of working memory that a part wants.
  int64_t sum_size() const { return wanted_ ? part_size() * kLanes<A> : 0; }

  /// The part of a unit, as zeros, with its working memory.
  RowBiasPart<A> cleared_part(int64_t head, int64_t c, int64_t round, A* sums) const {
    if (!wanted_) return {};
    std::fill_n(part(head, c), part_size(), 0.0);
    // In a round, no two units share queries: each adds to the totals of its own at once.
    return {p_.row_bias.of_head(head % p_.n_head), sums, part(head, c),
            row_factor_.at(head * p_.n_query), feature_.cleared_part(head, 0, c, round)};
  }
  void add_part(int64_t head, int64_t c, int64_t round) const {
    if (!wanted_) return;
    feature_.add_part(head, 0, c, round);
    double* const to = segments_.at(head * part_size());
    for (int64_t x = 0; x < part_size(); ++x) to[x] += part(head, c)[x];
  }
  /// Sums over the batch, or over all heads of it, in order.
  void finish(RowBias& grads) const {
    if (!wanted_) return;
    const auto sum = [](const Totals& totals, int64_t first, int64_t step, int64_t n) {
      double total = 0;
      for (int64_t i = 0; i < n; ++i) total += *totals.at(first + i * step);
      return static_cast<A>(total);
    };
    const auto segments = [&](Tensor& grad, int64_t which) {
      if (!grad.defined()) return;
      A* const to = grad.data<A>();
      for (int64_t x = 0; x < grad.numel(); ++x)  // [H, n_segment]
        to[x] = sum(segments_, 2 * x + which, 2 * grad.numel(), p_.n_batch);
    };
    segments(grads.offset, 0);
    segments(grads.slope, 1);
    if (grads.row_factor.defined())
      for (int64_t i = 0; i < p_.n_query; ++i)
        grads.row_factor.template data<A>()[i] = sum(row_factor_, i, p_.n_query, p_.heads());
    feature_.finish(p_.heads(), grads.feature);
  }

 private:
  int64_t part_size() const { return 2 * p_.row_bias.n_segment(); }
  double* part(int64_t head, int64_t c) const {
    return parts_.at((head * n_chunk_ + c) * part_size());
  }

  const Problem<T>& p_;
  int64_t n_chunk_;
  bool wanted_;
  TableSums<A> feature_;
  Totals parts_;       // [heads, chunks, n_segment, 2]
  Totals segments_;    // [heads, n_segment, 2]
  Totals row_factor_;  // [heads, T]
};

}  // namespace farfield::attention_cpu
