#pragma once
// For each normaliser: a vector of scores to probabilities P, and the gradient dS of the scores
// from dP. Hidden pairs have a score of -inf: their P and dS are 0.

#include "engine/cpu/attention_exp.h"
#include "engine/cpu/attention_problem.h"
#include "engine/kernels/attention_normalizer.h"

namespace farfield::attention_cpu {

/// Values of each row for the backward pass: pointers to the first row's value, or null.
template <class A>
struct RowValues {
  const A* lse = nullptr;        ///< log of the softmax sum
  const A* threshold = nullptr;  ///< of the clamp kinds
  const A* sum = nullptr;        ///< AttentionRows::sum
  const A* dot = nullptr;        ///< subtracted from dP

  RowValues from(int64_t i) const {
    const auto at = [i](const A* x) { return x ? x + i : nullptr; };
    return {at(lse), at(threshold), at(sum), at(dot)};
  }
};

template <class A>
struct SoftmaxRow {
  Vec<A> shift;           ///< the log of the sum, or, before this is known, the largest score
  Vec<A> dot = Vec<A>{};  ///< RowValues::dot; the forward pass has none
  Vec<A> probability(Vec<A> s) const { return exp_lanes<A>(s - shift); }
  Vec<A> gradient(Vec<A> /*s*/, Vec<A> p, Vec<A> dp) const { return softmax_grad(p, dp, dot); }
};

template <class A>
struct ClampedRow {
  SoftmaxRow<A> softmax;
  Vec<A> threshold;
  Vec<A> probability(Vec<A> s) const { return s < threshold ? Vec<A>{} : softmax.probability(s); }
  Vec<A> gradient(Vec<A> s, Vec<A> p, Vec<A> dp) const { return softmax.gradient(s, p, dp); }
};

template <class A>
struct ReluRow {
  Vec<A> factor;
  Vec<A> dot = Vec<A>{};  ///< RowValues::dot; the forward pass has none
  Vec<A> probability(Vec<A> s) const { return relu_probability(s, factor); }
  Vec<A> gradient(Vec<A> s, Vec<A> /*p*/, Vec<A> dp) const { return relu_grad(s, factor, dp, dot); }
};

/// f(the normaliser of a row), query `query` of the problem and row i of the values.
template <class T, class F, class A = Accumulate<T>>
void with_normalizer(const Problem<T>& p, const RowValues<A>& rows, int64_t i, int64_t query,
                     const F& f) {
  const Vec<A> dot = splat(rows.dot[i]);
  if (p.normalizer.is_relu()) {
    const A factor =
        p.normalizer.divides_by_sum() ? inverse_sum(rows.sum[i]) : p.relu_factor(query);
    return f(ReluRow<A>{splat(factor), dot});
  }
  const SoftmaxRow<A> softmax{splat(rows.lse[i]), dot};
  if (p.normalizer.is_clamped()) return f(ClampedRow<A>{softmax, splat(rows.threshold[i])});
  f(softmax);
}

}  // namespace farfield::attention_cpu
