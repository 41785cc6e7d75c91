// One query against the keys of a cache, read once where they are: no tile of keys is packed, since
// no second query would use it.

#include "engine/cpu/attention_one_query.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/base/parallel.h"
#include "engine/cpu/attention_normalizer.h"
#include "engine/cpu/attention_terms.h"
#include "engine/cpu/flush_denormals.h"
#include "engine/cpu/gemm/panels.h"

namespace farfield::attention_cpu {
namespace {

// The output of the only query of a head.
template <class T>
class OneQuery {
  using A = Accumulate<T>;

 public:
  /// Elements of working memory for one head.
  static int64_t scratch_size(const Problem<T>& p) {
    return round_up(p.head_dim, kLanes<A>) + round_up(p.n_key, kLanes<A>) + 2 * kLanes<A>;
  }

  /// `scratch` has scratch_size().
  OneQuery(const Problem<T>& p, int64_t head, A* scratch) : p_(p), head_(head), q_(scratch) {
    pack_rows(p.q + p.q_at(head, 0), p.q_rows.row_step, 1, p.head_dim, p.head_dim, q_);
    const int64_t begin = p.window > 0 ? std::max<int64_t>(0, p.n_key - p.window) : 0;
    const Range sinks{0, std::min(p.sinks, begin)}, recent{begin, p.n_key};
    A* const scores = scratch + p.head_dim;
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
    int64_t c = 0;  // elements of the output that are written
    const auto weigh_all = [&](auto n_vector) {
      constexpr int64_t kWidth = decltype(n_vector)::value * kLanes<A>;
      for (; c + kWidth <= p_.head_dim; c += kWidth)
        weigh_values<decltype(n_vector)::value>(c, inverse_sum(sum), to);
    };
    weigh_all(std::integral_constant<int, 8>());  // as many sums as registers hold
    weigh_all(std::integral_constant<int, 4>());
    weigh_all(std::integral_constant<int, 1>());
    if (lse) lse[head_] = sum == 0 ? kInfinity : largest + std::log(sum);
  }

 private:
  static constexpr A kInfinity = std::numeric_limits<A>::infinity();

  // Keys and values come from memory: the weights of other layers were read since the last token.
  static constexpr int64_t kAhead = 2048;  // elements

  // Keys that follow one another, and a score for each, in whole vectors.
  struct Part {
    Range keys = {};
    A* scores = nullptr;
  };

  // Writes the scores, -inf behind the last one. Returns the largest.
  A score(const Part& part) {
    const HeadTerms<A> terms = p_.terms_of(head_);
    const Vec<A> factor = splat(p_.factor(0));
    Vec<A> largest = splat(-kInfinity);
    for (int64_t j = 0; j < part.keys.size(); j += kLanes<A>) {
      A* const scores = part.scores + j;
      const int64_t first = part.keys.begin + j, n = std::min(kLanes<A>, part.keys.end - first);
      store<A>(scores, (n == kLanes<A> ? products_of(first) : products_of(first, n)) * factor);
      if (terms.weight || terms.bias) add_tables(terms, first, n, scores);
      std::fill(scores + n, scores + kLanes<A>, -kInfinity);
      largest = maximum<A>(load(scores), largest);
    }
    return max_of<A>(largest);
  }

  // For keys first .. first + n - 1.
  void add_tables(const HeadTerms<A>& terms, int64_t first, int64_t n, A* scores) const {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t distance = p_.n_key - 1 - first - i;
      if (terms.weight) scores[i] *= terms.weight[distance];
      if (terms.bias) scores[i] += terms.bias[distance];
    }
  }

  // The products of the query with a vector of keys, or with the first n of them.
  Vec<A> products_of(int64_t first, int64_t n = kLanes<A>) const {
    Vec<A> products[kLanes<A>] = {};
    const T* k = p_.k + p_.k_at(head_, first);
    for (int64_t i = 0; i < n; ++i, k += p_.k_rows.row_step) {
      Vec<A> sum{};
      for (int64_t x = 0; x < p_.head_dim; x += kLanes<A>) {
        __builtin_prefetch(k + x + kAhead);
        sum += load(q_ + x) * load_wide(k + x);
      }
      products[i] = sum;
    }
    transpose<A>(products);
    for (int64_t half = kLanes<A> / 2; half > 0; half /= 2)
      for (int64_t i = 0; i < half; ++i) products[i] += products[i + half];
    return products[0];
  }

  // Writes n_vector vectors of the output, from element c on.
  template <int n_vector>
  void weigh_values(int64_t c, A factor, T* to) const {
    Vec<A> sums[n_vector] = {};
    for (const Part& part : parts_) {
      const T* v = p_.v + p_.k_at(head_, part.keys.begin) + c;
      for (int64_t j = 0; j < part.keys.size(); ++j, v += p_.k_rows.row_step) {
        const Vec<A> p = splat(part.scores[j]);
        for (int x = 0; x < n_vector; ++x) {
          __builtin_prefetch(v + x * kLanes<A> + kAhead);
          sums[x] += p * load_wide(v + x * kLanes<A>);
        }
      }
    }
    for (int x = 0; x < n_vector; ++x)
      store_rounded(to + c + x * kLanes<A>, sums[x] * splat(factor));
  }

  const Problem<T>& p_;
  int64_t head_;
  A* q_;
  std::array<Part, 2> parts_;
};

}  // namespace

template <class T>
void attend_one_query(const Problem<T>& p, T* out, Accumulate<T>* lse) {
  const int64_t size = OneQuery<T>::scratch_size(p);
  Buffer<Accumulate<T>> scratch(p.heads() * size);
  parallel_for(p.heads(), [&](int64_t head) {
    const FlushDenormals flush;
    OneQuery<T>(p, head, scratch.data() + head * size).run(out, lse);
  });
}

template void attend_one_query(const Problem<float>&, float*, float*);
template void attend_one_query(const Problem<double>&, double*, double*);
template void attend_one_query(const Problem<BFloat16>&, BFloat16*, float*);

}  // namespace farfield::attention_cpu
