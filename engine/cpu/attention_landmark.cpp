// Softmax by groups, one row after the other: for each query the scores of all keys before it, in
// memory of one row.

#include "engine/kernels/attention_landmark.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/attention_backward_unit.h"
#include "engine/cpu/convert.h"
#include "engine/cpu/flush_denormals.h"
#include "engine/kernels/row_formulas.h"

namespace farfield {
namespace attention_cpu {
namespace {

constexpr int64_t kQueries = 32;  // of a unit of work of the forward pass

// y += by * x
template <class T, class A>
void add_row(A* y, A by, const T* x, int64_t n) {
  for (int64_t c = 0; c < n; ++c) y[c] += by * static_cast<A>(x[c]);
}

// The exponentials of x[0 .. n) relative to `largest`, in place, and their sum.
template <class A>
A exp_in_place(A* x, int64_t n, A largest) {
  // Where all are hidden: relative to 0, all exponentials are 0.
  const A shift = largest == -std::numeric_limits<A>::infinity() ? A{0} : largest;
  A sum = 0;
  for (int64_t i = 0; i < n; ++i) x[i] = fast_exp(x[i] - shift);
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}
template <class A>
A largest_of(const A* x, int64_t n, A largest = -std::numeric_limits<A>::infinity()) {
  for (int64_t i = 0; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}
template <class A>
void scale_in_place(A* x, int64_t n, A by) {
  for (int64_t i = 0; i < n; ++i) x[i] *= by;
}

/// The rows of one head.
template <class T>
class LandmarkHead {
 public:
  using A = Accumulate<T>;

  LandmarkHead(const Problem<T>& p, const LandmarkBlocks& blocks, int64_t head)
      : p_(p),
        blocks_(blocks),
        head_(head),
        first_key_(p.k_at(head, 0)),
        terms_(p.terms_of(head)),
        memory_(size(p, blocks) * static_cast<int64_t>(sizeof(A))),
        sum_(memory_.template take<A>(p.head_dim)),
        content_(memory_.template take<A>(p.n_key)),
        share_(memory_.template take<A>(p.n_key)),
        dp_(memory_.template take<A>(p.n_key)),
        dscore_(memory_.template take<A>(p.n_key)),
        by_block_(memory_.template take<A>(n_block(p, blocks))) {}

  /// out [head_dim] of query i; returns the log-sum-exp of the group of its own block.
  A forward(int64_t i, T* out) {
    const A lse = find_shares(i);
    std::fill_n(sum_, p_.head_dim, A{0});
    for_each_token(i, [&](int64_t n, A landmark) {
      const A p = landmark * share_[n] * kept(i, n);
      add_row(sum_, p, values_of(n), p_.head_dim);
    });
    for (int64_t c = 0; c < p_.head_dim; ++c) out[c] = static_cast<T>(sum_[c]);
    return lse;
  }

  /// What query i adds to the gradients: dq [head_dim], dk and dv [S, head_dim]; the tables'
  /// gradients [L], null if not wanted.
  void backward(int64_t i, const T* dout, A* dq, A* dk, A* dv, double* dbias, double* dweight) {
    find_shares(i);
    for_each_token(i, [&](int64_t n, A landmark) {
      const A keep = kept(i, n);
      dp_[n] = keep * dot(dout, values_of(n), p_.head_dim);
      add_row(dv + n * p_.head_dim, landmark * share_[n] * keep, dout, p_.head_dim);
    });
    find_score_gradients(i);

    const T* const q = p_.q + p_.q_at(head_, i);
    const int64_t m = p_.first_position() + i, end = blocks_.own_end(m);
    for (int64_t n = 0; n < end; ++n) {
      const int64_t entry = entry_of(m, n);
      if (dbias) dbias[entry] += static_cast<double>(dscore_[n]);
      if (dweight) dweight[entry] += static_cast<double>(dscore_[n] * content_[n]);
      const A dproduct = dscore_[n] * p_.factor(i) * (terms_.weight ? terms_.weight[entry] : A{1});
      add_row(dq, dproduct, key(n), p_.head_dim);
      add_row(dk + n * p_.head_dim, dproduct, q, p_.head_dim);
    }
  }

 private:
  static int64_t n_block(const Problem<T>& p, const LandmarkBlocks& blocks) {
    return blocks.block_of(p.n_key - 1) + 1;
  }
  static int64_t size(const Problem<T>& p, const LandmarkBlocks& blocks) {
    return p.head_dim + 4 * p.n_key + n_block(p, blocks);
  }
  const T* key(int64_t n) const { return p_.k + first_key_ + n * p_.k_rows.row_step; }
  const T* values_of(int64_t n) const { return p_.v + first_key_ + n * p_.k_rows.row_step; }
  int64_t entry_of(int64_t m, int64_t n) const {
    const int32_t* const ids = terms_.entries.ids;
    return ids ? int64_t{ids[m]} - ids[n] : m - n;
  }
  A kept(int64_t i, int64_t n) const {
    if (!p_.mask.is_on()) return 1;
    return p_.mask.keeps(head_, i, n) ? static_cast<A>(p_.mask.scale()) : A{0};
  }

  // f(token, share of its block's landmark) for each token that query i sees.
  template <class F>
  void for_each_token(int64_t i, const F& f) const {
    const int64_t m = p_.first_position() + i, own = blocks_.block_of(m);
    for (int64_t b = 0; b < own; ++b)
      for (int64_t n = blocks_.begin(b); n < blocks_.landmark(b); ++n)
        f(n, share_[blocks_.landmark(b)]);
    for (int64_t n = blocks_.begin(own); n < blocks_.own_end(m); ++n) f(n, A{1});
  }

  // content_ and the scores, in share_.
  void find_scores(int64_t i, int64_t m, int64_t end) {
    const T* const q = p_.q + p_.q_at(head_, i);
    const A factor = p_.factor(i);
    for (int64_t n = 0; n < end; ++n) {
      const int64_t entry = entry_of(m, n);
      content_[n] = factor * dot(q, key(n), p_.head_dim);
      A score = content_[n];
      if (terms_.weight) score *= terms_.weight[entry];
      if (terms_.bias) score += terms_.bias[entry];
      share_[n] = score;
    }
  }

  // share_[n] = the share of key n in its group, for tokens and landmarks. Returns the log-sum-exp
  // of the group of query i's own block.
  A find_shares(int64_t i) {
    constexpr A kInfinity = std::numeric_limits<A>::infinity();
    const int64_t m = p_.first_position() + i, own = blocks_.block_of(m);
    find_scores(i, m, blocks_.own_end(m));
    A* const landmarks = by_block_;
    for (int64_t b = 0; b < own; ++b) {
      A* const x = share_ + blocks_.begin(b);
      const A sum = exp_in_place(x, blocks_.n_token, largest_of(x, blocks_.n_token));
      scale_in_place(x, blocks_.n_token, inverse_sum(sum));
      landmarks[b] = sum == 0 ? -kInfinity : x[blocks_.n_token];
    }
    A* const x = share_ + blocks_.begin(own);
    const int64_t n = blocks_.own_end(m) - blocks_.begin(own);
    const A largest = largest_of(landmarks, own, largest_of(x, n));
    const A sum = exp_in_place(x, n, largest) + exp_in_place(landmarks, own, largest);
    scale_in_place(x, n, inverse_sum(sum));
    for (int64_t b = 0; b < own; ++b) share_[blocks_.landmark(b)] = landmarks[b] * inverse_sum(sum);
    return sum == 0 ? kInfinity : largest + std::log(sum);
  }

  // dscore_ of all keys that query i sees, from share_ and dp_.
  void find_score_gradients(int64_t i) {
    const int64_t m = p_.first_position() + i, own = blocks_.block_of(m);
    const auto mean = [&](int64_t begin, int64_t end) {
      A sum = 0;
      for (int64_t n = begin; n < end; ++n) sum += share_[n] * dp_[n];
      return sum;
    };
    A of_row = mean(blocks_.begin(own), blocks_.own_end(m));
    A* const of_block = by_block_;
    for (int64_t b = 0; b < own; ++b) {
      of_block[b] = mean(blocks_.begin(b), blocks_.landmark(b));
      of_row += share_[blocks_.landmark(b)] * of_block[b];
    }
    for (int64_t b = 0; b < own; ++b) {
      const A landmark = share_[blocks_.landmark(b)];
      for (int64_t n = blocks_.begin(b); n < blocks_.landmark(b); ++n)
        dscore_[n] = softmax_grad(landmark * share_[n], dp_[n], of_block[b]);
      dscore_[blocks_.landmark(b)] = softmax_grad(landmark, of_block[b], of_row);
    }
    for (int64_t n = blocks_.begin(own); n < blocks_.own_end(m); ++n)
      dscore_[n] = softmax_grad(share_[n], dp_[n], of_row);
  }

  const Problem<T>& p_;
  LandmarkBlocks blocks_;
  int64_t head_, first_key_;
  HeadTerms<A> terms_;
  Scratch memory_;
  A* sum_;                               // by component
  A *content_, *share_, *dp_, *dscore_;  // by key
  A* by_block_;
};

// A table's gradient: of each head of each sequence first.
class LandmarkTableSums {
 public:
  LandmarkTableSums(const Tensor& table, int64_t n_batch) : n_batch_(n_batch) {
    if (table.defined()) parts_.resize(static_cast<size_t>(n_batch * table.numel()));
    n_entry_ = table.defined() ? table.dim(1) : 0;
  }
  double* of(int64_t head) { return parts_.empty() ? nullptr : parts_.data() + head * n_entry_; }
  template <class A>
  void finish(Tensor& table) const {
    if (!table.defined()) return;
    for (int64_t i = 0; i < table.numel(); ++i) {
      double sum = 0;
      for (int64_t b = 0; b < n_batch_; ++b)
        sum += parts_[static_cast<size_t>(b * table.numel() + i)];
      table.data<A>()[i] = static_cast<A>(sum);
    }
  }

 private:
  int64_t n_batch_, n_entry_ = 0;
  std::vector<double> parts_;  // [B * H, L]
};

}  // namespace
}  // namespace attention_cpu

void landmark_attention_forward(Cpu, const Heads& heads, const AttentionRule& rule, Tensor& out,
                                AttentionRows& rows) {
  dispatch_float(heads.q.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    using namespace attention_cpu;
    const Problem<T> p(heads, rule);
    const LandmarkBlocks blocks(rule.normalizer.block, p.n_key);
    const int64_t groups = (p.n_query + kQueries - 1) / kQueries;
    T* const to = out.data<T>();
    A* const lse = rows.lse.data<A>();
    parallel_for(p.heads() * groups, [&](int64_t unit) {
      const FlushDenormals flush;
      const int64_t head = unit % p.heads(), first = (groups - 1 - unit / p.heads()) * kQueries;
      LandmarkHead<T> rows_of(p, blocks, head);
      for (int64_t i = first; i < std::min(p.n_query, first + kQueries); ++i)
        lse[head * p.n_query + i] = rows_of.forward(i, to + p.token_row(head, i));
    });
  });
}

void landmark_attention_backward(Cpu, const Heads& heads, const AttentionRule& rule,
                                 const Tensor& /*out*/, const AttentionRows& /*rows*/,
                                 const Tensor& dout, AttentionGrads& grads) {
  dispatch_float(heads.q.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    using namespace attention_cpu;
    const Problem<T> p(heads, rule);
    const LandmarkBlocks blocks(rule.normalizer.block, p.n_key);
    LandmarkTableSums bias(grads.dbias, p.n_batch), weight(grads.dweight, p.n_batch);
    const T* const from = dout.data<T>();
    T* const dq = grads.dheads.q.template data<T>();
    T* const dk = grads.dheads.k.template data<T>();
    T* const dv = grads.dheads.v.template data<T>();
    const int64_t n_key = p.n_key * p.head_dim, n_query = p.n_query * p.head_dim;
    parallel_for(p.heads(), [&](int64_t head) {
      const FlushDenormals flush;
      LandmarkHead<T> rows_of(p, blocks, head);
      const int64_t size = n_query + 2 * n_key;
      Scratch sums(size * static_cast<int64_t>(sizeof(A)));
      A *const q = sums.take<A>(size), *const k = q + n_query, *const v = k + n_key;
      std::fill_n(q, size, A{0});
      for (int64_t i = 0; i < p.n_query; ++i)
        rows_of.backward(i, from + p.token_row(head, i), q + i * p.head_dim, k, v, bias.of(head),
                         weight.of(head));
      convert(q, n_query, dq + head * n_query);
      convert(k, n_key, dk + head * n_key);
      convert(v, n_key, dv + head * n_key);
    });
    bias.finish<A>(grads.dbias);
    weight.finish<A>(grads.dweight);
  });
}

}  // namespace farfield
