#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/parallel.h"
#include "engine/cpu/attention_dropped_pairs.h"
#include "engine/cpu/attention_normalizer.h"
#include "engine/cpu/attention_one_query.h"
#include "engine/cpu/attention_terms.h"
#include "engine/cpu/attention_units.h"
#include "engine/cpu/flush_denormals.h"

namespace farfield {
namespace attention_cpu {
namespace {

constexpr int64_t kKeys = 2 * kTile;          // keys of a tile
constexpr int64_t kScoreStride = kKeys + 16;  // not a power of two: rows spread over the cache

// Queries of one unit of work: each packed tile of keys serves all of them.
int64_t group_size(int64_t n_key) {
  return (n_key <= 512 ? 2 : n_key <= 4096 ? 4 : n_key <= 8192 ? 8 : 16) * kTile;
}

// x = c * factor (* weight) (+ bias), in place, and the largest x. Scores come out the same to the
// bit in the backward pass, which compares them with the same threshold.
template <class A, bool kBias, bool kWeight>
A finish_scores(A* x, Range keys, A factor, const A* bias, const A* weight) {
  Vec<A> largest = splat(-std::numeric_limits<A>::infinity());
  const Vec<A> f = splat(factor);
  for (int64_t j = keys.begin; j < keys.end; j += kLanes<A>) {
    Vec<A> s = load(x + j) * f;
    if constexpr (kWeight) s = s * load(weight + j);
    if constexpr (kBias) s = s + load(bias + j);
    store<A>(x + j, s);
    largest = maximum<A>(s, largest);
  }
  return max_of<A>(largest);
}

// The queries of a group and a tile's keys, of one branch.
template <class Unit>
struct Operands {
  Rows<Unit> q = {};
  Unit* keys = nullptr;

  // From query i on.
  Factors<Unit> from(int64_t i) const { return {q.data ? q.row(i) : nullptr, q.stride, keys}; }
};

// Output pointers for values that the backward pass needs, or null.
template <class A>
struct RowOutputs {
  A *lse, *threshold, *sum;
};

// Queries [first, last) of one head against all keys. Terms: of the scores.
template <class T, class Terms>
class Group {
  using A = Accumulate<T>;
  using Unit = typename Terms::Unit;

 public:
  Group(const Problem<T>& p, int64_t head, int64_t first, int64_t last)
      : p_(p),
        head_(head),
        first_(first),
        rows_(last - first),
        scratch_(scratch_size() * static_cast<int64_t>(sizeof(A))),
        near_(operands(p.q)),
        far_(p.far_q ? operands(p.far_q) : Operands<Unit>{}),
        out_(scratch_.take<A>(rows_ * p.width)),
        max_(scratch_.take<A>(rows_)),
        sums_(scratch_.take<Vec<A>>(rows_)),
        values_(scratch_.take<Unit>(columns_size<Terms>(kKeys, p.width))),
        scores_(scratch_.take<A>(kStrip * kScoreStride)),
        units_(scratch_.take<Unit>(kUnits)),
        spare_(p.far_q ? scratch_.take<A>(kStrip * kScoreStride) : nullptr),
        terms_(p.terms_of(head), scratch_.take<A>(TileTerms<A>::kBufferSize)) {
    std::fill_n(out_, rows_ * p.width, A{0});
    std::fill_n(max_, rows_, -kInfinity);
    std::fill_n(sums_, rows_, Vec<A>{});
  }

  void run(T* out, const RowOutputs<A>& to) {
    if (p_.normalizer.is_relu())
      relu();
    else if (p_.normalizer.is_clamped())
      clamped_softmax();
    else
      softmax();
    T* row = out + p_.token_row(head_, first_);
    for (int64_t i = 0; i < rows_; ++i, row += p_.token_stride()) finish_row(i, row, to);
  }

 private:
  static constexpr A kInfinity = std::numeric_limits<A>::infinity();
  static constexpr int64_t kUnits = tile_units_size<Terms>(kStrip, kScoreStride);

  int64_t scratch_size() const {
    const int64_t branch_size = (rows_ + kKeys) * p_.width + kStrip * kScoreStride;
    const int64_t row_size = p_.width + 1 + kLanes<A>;
    return (p_.far_q ? 2 : 1) * branch_size + rows_ * row_size +
           columns_size<Terms>(kKeys, p_.width) + kUnits + TileTerms<A>::kBufferSize;
  }
  Operands<Unit> operands(const T* q) {
    return {score_rows<Terms>(q + p_.q_at(head_, first_), p_.q_rows.row_step, rows_, p_.head_dim,
                              p_.width, scratch_.take<Unit>(rows_ * p_.width)),
            scratch_.take<Unit>(kKeys * p_.width)};
  }

  // The online softmax: output and sums of each row are relative to exp(its maximum so far).
  void softmax() {
    for_each_strip([this](const TileView& view, int64_t i, const Columns<Unit>& v) {
      bool is_zero = true;
      finish_strip(view, i, [&](int64_t row, A largest) {
        if (largest > max_[row]) {
          if (max_[row] > -kInfinity) rescale_row(row, std::exp(max_[row] - largest));
          max_[row] = largest;
        }
        is_zero = is_zero && largest - shift(row) < ExpConstants<A>::kMin;
      });
      if (is_zero && !has_nan(view)) return;  // far keys of a bias that decays
      add_values(view, i, v, [this](int64_t row) { return softmax_row(row); });
    });
  }

  // The clamp depends on the largest score of the whole row, so a first pass finds that.
  void clamped_softmax() {
    for_each_strip([this](const TileView& view, int64_t i, const Columns<Unit>&) {
      finish_strip(view, i,
                   [this](int64_t row, A largest) { max_[row] = std::max(max_[row], largest); });
    });
    for_each_strip([this](const TileView& view, int64_t i, const Columns<Unit>& v) {
      finish_strip(view, i, [](int64_t, A) {});
      add_values(view, i, v, [this](int64_t row) {
        return ClampedRow<A>{softmax_row(row), splat(threshold(row))};
      });
    });
  }

  void relu() {
    for_each_strip([this](const TileView& view, int64_t i, const Columns<Unit>& v) {
      finish_strip(view, i, [](int64_t, A) {});
      add_values(view, i, v,
                 [this](int64_t row) { return ReluRow<A>{splat(p_.relu_factor(first_ + row))}; });
    });
  }

  // A row that has seen nothing yet has max = -inf: relative to 0, all its terms are 0.
  A shift(int64_t row) const { return max_[row] == -kInfinity ? A{0} : max_[row]; }
  SoftmaxRow<A> softmax_row(int64_t row) const { return {splat(shift(row))}; }
  A threshold(int64_t row) const {
    return clamp_threshold(p_.normalizer.kind, p_.normalizer.parameter, max_[row]);
  }
  void rescale_row(int64_t row, A by) {
    sums_[row] *= splat(by);
    A* const out = out_ + row * p_.width;
    for (int64_t c = 0; c < p_.width; c += kLanes<A>) store<A>(out + c, load(out + c) * splat(by));
  }

  // f(view, i, values) with the dot products of queries [i, i + view.rows) and a tile's keys in
  // scores_, and the values of these keys; the last keys, whose scores are mostly the largest, come
  // first.
  template <class F>
  void for_each_strip(const F& f) {
    for (int64_t j = (p_.n_key - 1) / kKeys * kKeys; j >= 0; j -= kKeys) {
      const int64_t cols = std::min(kKeys, p_.n_key - j), at = p_.k_at(head_, j);
      const int64_t stride = p_.k_rows.row_step;
      const TileView tile = p_.view(first_, rows_, j, cols);
      if (tile.sees_nothing()) continue;
      const Branches needed = p_.branches(tile);
      if (needed.has_near) pack_keys<Terms>(p_.k + at, stride, cols, p_.head_dim, near_.keys);
      if (needed.has_far) pack_keys<Terms>(p_.far_k + at, stride, cols, p_.head_dim, far_.keys);
      const Columns<Unit> v =
          columns_of<Terms>(p_.v + at, stride, cols, p_.head_dim, p_.width, values_);
      for (int64_t i = 0; i < rows_; i += kStrip) {
        const TileView view = tile.queries(i, kStrip);
        if (view.sees_nothing()) continue;
        branch_scores<Terms>(p_.branches(view), near_.from(i), far_.from(i),
                             units_of<Terms>(p_.head_dim), scores_, spare_, kScoreStride);
        f(view, i, v);
      }
    }
  }

  // f(r, x, keys) for each row r of a strip that sees keys, whose scores of these are x[j].
  template <class F>
  void for_each_row(const TileView& view, const F& f) const {
    for (int64_t block = 0; block < view.rows; block += kBlockRows) {
      const int64_t n = std::min<int64_t>(kBlockRows, view.rows - block);
      const Range keys = score_columns<A>(view, block, n);
      if (keys.empty()) continue;
      for (int64_t r = block; r < block + n; ++r) f(r, scores_ + r * kScoreStride, keys);
    }
  }

  // Writes the scores of the strip whose first query is row i over its dot products; f(row, the
  // largest score of the row).
  template <class F>
  void finish_strip(const TileView& view, int64_t i, const F& f) {
    terms_.start_tile(view);
    for_each_row(view, [&](int64_t r, A* x, Range keys) {
      f(i + r, finish_row_scores(r, x, keys, p_.factor(first_ + i + r)));
    });
  }
  A finish_row_scores(int64_t i, A* x, Range keys, A factor) {
    const A* const weight = terms_.has_weight() ? terms_.weight_row(i) : nullptr;
    const A* const bias = terms_.has_bias() ? terms_.bias_row(i) : nullptr;
    if (weight)
      return bias ? finish_scores<A, true, true>(x, keys, factor, bias, weight)
                  : finish_scores<A, false, true>(x, keys, factor, nullptr, weight);
    return bias ? finish_scores<A, true, false>(x, keys, factor, bias, nullptr)
                : finish_scores<A, false, false>(x, keys, factor, nullptr, nullptr);
  }

  // Whether a score of the strip is not a number; no maximum shows it.
  bool has_nan(const TileView& view) const {
    IntVec<A> found{};
    for_each_row(view, [&](int64_t, const A* x, Range keys) {
      for (int64_t j = keys.begin; j < keys.end; j += kLanes<A>)
        found |= load(x + j) != load(x + j);
    });
    return max_of<A>((Vec<A>)(found & (IntVec<A>)splat(A{1}))) != 0;
  }

  // Adds the values, weighted by the probabilities of the scores.
  template <class RowOf>
  void add_values(const TileView& view, int64_t i, const Columns<Unit>& v, const RowOf& row_of) {
    constexpr bool kHasPairs = Terms::kElements > 1;
    if (kHasPairs && !p_.mask.is_on()) {
      normalize<kHasPairs>(view, i, row_of);
      return add_weighted(view, i, v, {units_, kScoreStride / Terms::kElements});
    }
    normalize<false>(view, i, row_of);
    if (p_.mask.is_on())
      DroppedPairs<kKeys>(p_.mask, view, head_, first_ + i).apply(scores_, kScoreStride);
    add_weighted(view, i, v, units_over_keys<Terms>(view, scores_, kScoreStride, units_));
  }
  void add_weighted(const TileView& view, int64_t i, const Columns<Unit>& v,
                    const Rows<Unit>& weights) {
    add_over_keys<Terms>(view, weights.data, weights.stride, v, p_.width, A{1}, out_ + i * p_.width,
                         p_.width);
  }

  // Writes the probabilities over the scores, or in pairs to units_, and adds them to the sums. Out
  // of line, so that the constants of its loop have registers.
  template <bool kInPairs, class RowOf>
  [[gnu::noinline]] void normalize(const TileView& view, int64_t i, const RowOf& row_of) {
    for_each_row(view, [&](int64_t r, A* x, Range keys) {
      const auto row = row_of(i + r);
      Vec<A> sum = sums_[i + r];
      const auto next = [&](int64_t j) {
        const Vec<A> p = row.probability(load(x + j));
        sum += p;
        return p;
      };
      int64_t j = keys.begin;
      if constexpr (kInPairs) {
        Unit* const to = units_ + r * (kScoreStride / 2);
        const auto pair = [&](Vec<A> first, Vec<A> second) {
          const auto units = Terms::in_row(first, second);
          std::memcpy(to + j / 2, &units, sizeof units);
        };
        for (; j + kBlockCols<A> <= keys.end; j += kBlockCols<A>) {
          const Vec<A> first = next(j);
          pair(first, next(j + kLanes<A>));
        }
        if (j < keys.end) pair(next(j), Vec<A>{});
      } else {
        for (; j < keys.end; j += kLanes<A>) store<A>(x + j, next(j));
      }
      sums_[i + r] = sum;
    });
  }

  void finish_row(int64_t i, T* row, const RowOutputs<A>& to) const {
    const A sum = sum_of<A>(sums_[i]);
    const A factor = p_.normalizer.divides_by_sum() ? inverse_sum(sum) : A{1};
    const A* const out = out_ + i * p_.width;
    int64_t c = 0;
    for (; c + kLanes<A> <= p_.head_dim; c += kLanes<A>)
      store_rounded(row + c, load(out + c) * splat(factor));
    for (; c < p_.head_dim; ++c) row[c] = static_cast<T>(out[c] * factor);
    const int64_t at = head_ * p_.n_query + first_ + i;
    // A row that sees nothing: exp(score - inf) = 0 makes its probabilities 0 in the backward pass.
    if (to.lse) to.lse[at] = sum == 0 ? kInfinity : max_[i] + std::log(sum);
    if (to.threshold) to.threshold[at] = threshold(i);
    if (to.sum) to.sum[at] = sum;
  }

  const Problem<T>& p_;
  int64_t head_, first_, rows_;
  Scratch scratch_;
  Operands<Unit> near_, far_;
  A* out_;  // [rows, width]
  A* max_;
  Vec<A>* sums_;  // [rows], of each lane
  Unit* values_;
  A* scores_;
  Unit* units_;
  A* spare_;
  TileTerms<A> terms_;
};

}  // namespace
}  // namespace attention_cpu

void attention_forward(Cpu, const Heads& heads, const AttentionRule& rule, Tensor& out,
                       AttentionRows& rows) {
  dispatch_float(heads.q.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const attention_cpu::Problem<T> p(heads, rule);
    const auto values = [](Tensor& x) { return x.defined() ? x.data<A>() : nullptr; };
    T* const to = out.data<T>();
    if (heads.have_room() && attention_cpu::is_one_query(p))
      return attention_cpu::attend_one_query(p, to, values(rows.lse));
    const int64_t group = attention_cpu::group_size(p.n_key);
    const int64_t groups = (p.n_query + group - 1) / group;
    const attention_cpu::RowOutputs<A> to_rows{values(rows.lse), values(rows.threshold),
                                               values(rows.sum)};
    attention_cpu::with_score_terms<T>([&](auto terms) {
      parallel_for(p.heads() * groups, [&](int64_t unit) {
        const FlushDenormals flush;
        const int64_t g = groups - 1 - unit / p.heads();  // the longest rows first
        attention_cpu::Group<T, decltype(terms)>(p, unit % p.heads(), g * group,
                                                 std::min(p.n_query, (g + 1) * group))
            .run(to, to_rows);
      });
    });
  });
}

}  // namespace farfield
