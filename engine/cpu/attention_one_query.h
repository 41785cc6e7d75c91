#pragma once
// One query against the keys of a cache, read once where they are: no tile of keys is packed, since
// no second query would use it.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/cpu/attention_normalizer.h"
#include "engine/cpu/attention_terms.h"

namespace farfield::attention_cpu {

/// The output of the only query of a head.
template <class T>
class OneQuery {
  using A = Accumulate<T>;

 public:
  /// Softmax with tables by distance at most, over heads of whole vectors.
  static bool serves(const Problem<T>& p) {
    return p.n_query == 1 && p.normalizer.kind == Normalizer::Kind::softmax && !p.far_q && !p.ids &&
           !p.far_ids_q && !p.row_bias.defined() && !p.mask.is_on() && p.head_dim % kLanes<A> == 0;
  }

  OneQuery(const Problem<T>& p, int64_t head)
      : p_(p),
        head_(head),
        scratch_((p.head_dim + p.n_key + 2 * kLanes<A>)*static_cast<int64_t>(sizeof(A))),
        q_(scratch_.take<A>(p.head_dim)) {
    pack_rows(p.q + p.q_at(head, 0), p.head_dim, 1, p.head_dim, p.head_dim, q_);
    const int64_t begin = p.window > 0 ? std::max<int64_t>(0, p.n_key - p.window) : 0;
    const Range sinks{0, std::min(p.sinks, begin)}, recent{begin, p.n_key};
    A* const scores = scratch_.take<A>(p.n_key + 2 * kLanes<A>);
    parts_ = {Part{sinks, scores}, Part{recent, scores + round_up(sinks.size(), kLanes<A>)}};
  }

  /// `lse`, of all heads, may be null.
  void run(T* out, A* lse) {
    A largest = -kInfinity, sum = 0;
    for (const Part& part : parts_) largest = std::max(largest, score(part));
    const SoftmaxRow<A> row{splat(largest == -kInfinity ? A{0} : largest)};
    for (const Part& part : parts_)
      for (int64_t i = 0; i < part.keys.size(); i += kLanes<A>) {
        const Vec<A> probabilities = row.probability(load(part.scores + i));
        store<A>(part.scores + i, probabilities);
        sum += sum_of<A>(probabilities);
      }
    T* const to = out + p_.token_row(head_, 0);
    for (int64_t c = 0; c < p_.head_dim; c += kColumns * kLanes<A>)
      weigh_values(c, inverse_sum(sum), to);
    if (lse) lse[head_] = sum == 0 ? kInfinity : largest + std::log(sum);
  }

 private:
  static constexpr A kInfinity = std::numeric_limits<A>::infinity();
  static constexpr int64_t kColumns = 8;  // vectors of an output that registers hold

  // Keys that follow one another, and a score for each, in whole vectors.
  struct Part {
    Range keys = {};
    A* scores = nullptr;
  };

  // Writes the scores, -inf behind the last one. Returns the largest.
  A score(const Part& part) {
    const HeadTerms<A> terms = p_.terms_of(head_);
    const A factor = p_.factor(0);
    A largest = -kInfinity;
    for (int64_t j = 0; j < part.keys.size(); j += kLanes<A>) {
      A* const scores = part.scores + j;
      const int64_t first = part.keys.begin + j, n = std::min(kLanes<A>, part.keys.end - first);
      store<A>(scores, products_of(first, n) * splat(factor));
      for (int64_t i = 0; i < n; ++i) {
        const int64_t distance = p_.n_key - 1 - first - i;
        if (terms.weight) scores[i] *= terms.weight[distance];
        if (terms.bias) scores[i] += terms.bias[distance];
        largest = std::max(largest, scores[i]);
      }
      std::fill(scores + n, scores + kLanes<A>, -kInfinity);
    }
    return largest;
  }

  // The products of the query with keys first .. first + n - 1, n at most the lanes.
  Vec<A> products_of(int64_t first, int64_t n) const {
    Vec<A> products[kLanes<A>] = {};
    for (int64_t i = 0; i < n; ++i) {
      const T* const k = p_.k + p_.k_at(head_, first + i);
      for (int64_t x = 0; x < p_.head_dim; x += kLanes<A>)
        products[i] += load(q_ + x) * load_wide(k + x);
    }
    transpose<A>(products);
    for (int64_t half = kLanes<A> / 2; half > 0; half /= 2)
      for (int64_t i = 0; i < half; ++i) products[i] += products[i + half];
    return products[0];
  }

  // Writes up to kColumns vectors of the output, from element c on.
  void weigh_values(int64_t c, A factor, T* to) const {
    const int64_t n = std::min(kColumns, (p_.head_dim - c) / kLanes<A>);
    Vec<A> sums[kColumns] = {};
    for (const Part& part : parts_)
      for (int64_t j = 0; j < part.keys.size(); ++j) {
        const T* const v = p_.v + p_.k_at(head_, part.keys.begin + j) + c;
        const Vec<A> p = splat(part.scores[j]);
        if (n == kColumns)
          for (int64_t x = 0; x < kColumns; ++x) sums[x] += p * load_wide(v + x * kLanes<A>);
        else
          for (int64_t x = 0; x < n; ++x) sums[x] += p * load_wide(v + x * kLanes<A>);
      }
    for (int64_t x = 0; x < n; ++x)
      for (int64_t lane = 0; lane < kLanes<A>; ++lane)
        to[c + x * kLanes<A> + lane] = static_cast<T>(sums[x][lane] * factor);
  }

  const Problem<T>& p_;
  int64_t head_;
  Scratch scratch_;
  A* q_;
  std::array<Part, 2> parts_;
};

}  // namespace farfield::attention_cpu
