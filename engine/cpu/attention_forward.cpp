#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/parallel.h"
#include "engine/cpu/attention_exp.h"
#include "engine/cpu/attention_problem.h"
#include "engine/cpu/attention_terms.h"

namespace farfield {
namespace attention_cpu {
namespace {

constexpr int64_t kKeys = 2 * kTile;          // keys of a tile
constexpr int64_t kScoreStride = kKeys + 16;  // not a power of two: rows spread over the cache

// Queries of one unit of work: each packed tile of keys serves all of them.
int64_t group_size(int64_t n_key) { return n_key <= 512 ? 2 * kTile : 4 * kTile; }

// The running softmax of a group: output and sum of each row are relative to exp(max).
template <class A>
struct RunningSoftmax {
  A* out;  // [group, width]
  A* max;  // [group]
  A* sum;  // [group]
};

template <class A>
void rescale_row(const RunningSoftmax<A>& state, int64_t i, int64_t width, A by) {
  state.sum[i] *= by;
  A* const out = state.out + i * width;
  for (int64_t c = 0; c < width; c += kLanes<A>) store<A>(out + c, load(out + c) * splat(by));
}

// x = c * factor (* weight) (+ bias), in place, and the largest x.
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

// x = exp(x - shift), in place, and the sum of it.
template <class A>
A exponentiate(A* x, Range keys, A shift) {
  Vec<A> total{};
  const Vec<A> m = splat(shift);
  for (int64_t j = keys.begin; j < keys.end; j += kLanes<A>) {
    const Vec<A> p = exp_lanes<A>(load(x + j) - m);
    store<A>(x + j, p);
    total += p;
  }
  return sum_of<A>(total);
}

// Turns the dot products of a tile into exp(score - max), and brings the rows of `state` to the new
// maximum. Row i of the tile is query first_query + i.
template <class T, class A = Accumulate<T>>
void softmax_tile(const Problem<T>& p, const TileView& view, int64_t first_query,
                  TileTerms<A>& terms, A* scores, const RunningSoftmax<A>& state) {
  constexpr int64_t kCols = kBlockCols<A>;
  terms.start_tile(view);
  for (int64_t block = 0; block < view.rows; block += kBlockRows) {
    const int64_t n = std::min<int64_t>(kBlockRows, view.rows - block);
    const Range seen = view.keys_of(block, n);
    if (seen.empty()) continue;
    const Range keys{seen.begin / kCols * kCols, round_up(seen.end, kCols)};
    for (int64_t i = block; i < block + n; ++i) {
      A* const x = scores + i * kScoreStride;
      const A factor = p.factor(first_query + i);
      A largest = 0;
      if (terms.has_weight()) {
        const A* const weight = terms.weight_row(i);
        largest = terms.has_bias()
                      ? finish_scores<A, true, true>(x, keys, factor, terms.bias_row(i), weight)
                      : finish_scores<A, false, true>(x, keys, factor, nullptr, weight);
      } else {
        largest = terms.has_bias()
                      ? finish_scores<A, true, false>(x, keys, factor, terms.bias_row(i), nullptr)
                      : finish_scores<A, false, false>(x, keys, factor, nullptr, nullptr);
      }
      if (largest > state.max[i]) {
        if (state.sum[i] > 0) rescale_row(state, i, p.width, std::exp(state.max[i] - largest));
        state.max[i] = largest;
      }
      // A row that has seen nothing yet has max = -inf: relative to 0, all its terms are 0.
      const A shift = state.max[i] == -std::numeric_limits<A>::infinity() ? A{0} : state.max[i];
      state.sum[i] += exponentiate<A>(x, keys, shift);
    }
  }
}

// The queries of a group and a tile's keys, of one branch.
template <class A>
struct Operands {
  Rows<A> q = {};
  A* keys = nullptr;

  // From query i on.
  Factors<A> from(int64_t i) const { return {q.data ? q.row(i) : nullptr, q.stride, keys}; }
};

// Queries [first, last) of one head against all keys.
template <class T>
void forward_group(const Problem<T>& p, int64_t head, int64_t first, int64_t last, T* out,
                   Accumulate<T>* lse) {
  using A = Accumulate<T>;
  const int64_t rows = last - first, width = p.width;
  const int64_t branch_size = (rows + kKeys) * width + kStrip * kScoreStride;
  const int64_t sizes = (p.far_q ? 2 : 1) * branch_size + rows * width + 2 * rows + kKeys * width +
                        TileTerms<A>::kBufferSize;
  Scratch scratch(sizes * static_cast<int64_t>(sizeof(A)));
  const auto operands = [&](const T* q) {
    return Operands<A>{rows_of(q + p.q_at(head, first), p.head_dim, rows, p.head_dim, width,
                               scratch.take<A>(rows * width)),
                       scratch.take<A>(kKeys * width)};
  };
  const Operands<A> near = operands(p.q);
  const Operands<A> far = p.far_q ? operands(p.far_q) : Operands<A>{};
  const RunningSoftmax<A> state{scratch.take<A>(rows * width), scratch.take<A>(rows),
                                scratch.take<A>(rows)};
  std::fill_n(state.out, rows * width, A{0});
  std::fill_n(state.max, rows, -std::numeric_limits<A>::infinity());
  std::fill_n(state.sum, rows, A{0});
  A* const values = scratch.take<A>(kKeys * width);
  A* const scores = scratch.take<A>(kStrip * kScoreStride);
  A* const spare = p.far_q ? scratch.take<A>(kStrip * kScoreStride) : nullptr;
  TileTerms<A> terms(p.terms_of(head), scratch.take<A>(terms.kBufferSize));

  for (int64_t j = 0; j < p.n_key; j += kKeys) {
    const int64_t cols = std::min(kKeys, p.n_key - j), at = p.k_at(head, j);
    const TileView tile = p.view(first, rows, j, cols);
    if (tile.sees_nothing()) continue;
    const Branches needed = p.branches(tile);
    if (needed.has_near) pack_transposed(p.k + at, p.head_dim, cols, p.head_dim, near.keys);
    if (needed.has_far) pack_transposed(p.far_k + at, p.head_dim, cols, p.head_dim, far.keys);
    const Rows<A> v = rows_of(p.v + at, p.head_dim, cols, p.head_dim, width, values);
    for (int64_t i = 0; i < rows; i += kStrip) {
      const TileView view = tile.queries(i, kStrip);
      if (view.sees_nothing()) continue;
      branch_scores(p.branches(view), near.from(i), far.from(i), p.head_dim, scores, spare,
                    kScoreStride);
      const RunningSoftmax<A> part{state.out + i * width, state.max + i, state.sum + i};
      softmax_tile<T>(p, view, first + i, terms, scores, part);
      add_over_keys(view, scores, kScoreStride, v.data, v.stride, width, A{1}, part.out, width);
    }
  }

  for (int64_t i = 0; i < rows; ++i) {
    const A sum = state.sum[i];
    const A inverse = sum == 0 ? A{0} : 1 / sum;
    T* const to = out + p.token_row(head, first + i);
    for (int64_t c = 0; c < p.head_dim; ++c)
      to[c] = static_cast<T>(state.out[i * width + c] * inverse);
    // A row that sees nothing: exp(score - inf) = 0 makes its probabilities 0 in the backward pass.
    lse[head * p.n_query + first + i] =
        sum == 0 ? std::numeric_limits<A>::infinity() : state.max[i] + std::log(sum);
  }
}

}  // namespace
}  // namespace attention_cpu

void attention_forward(Cpu, const Heads& heads, const AttentionRule& rule, Tensor& out,
                       Tensor& lse) {
  dispatch_float(heads.q.dtype(), [&](auto type) {
    using T = decltype(type);
    const attention_cpu::Problem<T> p(heads, rule);
    const int64_t group = attention_cpu::group_size(p.n_key);
    const int64_t groups = (p.n_query + group - 1) / group;
    T* const to = out.data<T>();
    auto* const to_lse = lse.data<Accumulate<T>>();
    parallel_for(p.heads() * groups, [&](int64_t unit) {
      const int64_t g = groups - 1 - unit / p.heads();  // the longest rows first
      attention_cpu::forward_group(p, unit % p.heads(), g * group,
                                   std::min(p.n_query, (g + 1) * group), to, to_lse);
    });
  });
}

}  // namespace farfield
