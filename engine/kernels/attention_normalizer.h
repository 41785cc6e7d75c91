#pragma once
// The formulas of the normalisers (Normalizer in engine/attention_rule.h), for both devices. V is a
// number or, on the CPU, a vector of them.

#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/attention_rule.h"
#include "engine/host_device.h"
#include "engine/kernels/row_formulas.h"

namespace farfield {

/// The factor of max(0, score) in a relu normaliser, for a query that sees n keys; what divides by
/// a sum does that later.
FARFIELD_HD inline double relu_factor(Normalizer::Kind kind, double parameter, int64_t n) {
  const auto count = static_cast<double>(n);
  if (kind == Normalizer::Kind::relu) return 1 / (parameter * std::sqrt(count / 2));
  return kind == Normalizer::Kind::relu_seqlen ? 1 / count : 1;
}
/// The factor of a row with this sum; 0 for a row that sees nothing.
template <class A>
FARFIELD_HD A inverse_sum(A sum) {
  return sum == 0 ? A{0} : 1 / sum;
}
/// P of a relu normaliser.
template <class V>
FARFIELD_HD V relu_probability(V score, V factor) {
  return score <= V{} ? V{} : score * factor;
}
/// The gradient of a score from dP; `dot` is minus the term of the penalty, or, where a row is
/// divided by its sum, the sum of P dP. For softmax this is softmax_grad().
template <class V>
FARFIELD_HD V relu_grad(V score, V factor, V dp, V dot) {
  return score <= V{} ? V{} : (dp - dot) * factor;
}
/// The penalty's term in the gradient of each P of a row whose P have this sum, of n_rows rows.
template <class A>
FARFIELD_HD A penalty_gradient(double penalty, int64_t n_rows, A sum) {
  return static_cast<A>(2 * penalty / static_cast<double>(n_rows)) * (sum - 1);
}
/// Scores below this are left out of a row with this largest score: -inf but for the clamp kinds.
template <class A>
FARFIELD_HD A clamp_threshold(Normalizer::Kind kind, double parameter, A largest) {
  const auto given = static_cast<A>(parameter);
  if (kind == Normalizer::Kind::clamp_absolute) return given < largest ? given : largest;
  return kind == Normalizer::Kind::clamp_relative ? largest - given
                                                  : -std::numeric_limits<A>::infinity();
}

}  // namespace farfield
