#pragma once
// The formulas of the normalisers (Normalizer in engine/attention_rule.h), for both devices.

#include <cmath>
#include <cstdint>

#include "engine/attention_rule.h"
#include "engine/host_device.h"

namespace farfield {

/// What a relu normaliser multiplies max(0, score) by, for a query that sees n keys.
FARFIELD_HD inline double relu_factor(Normalizer::Kind kind, double parameter, int64_t n) {
  const auto count = static_cast<double>(n);
  return kind == Normalizer::Kind::relu ? 1 / (parameter * std::sqrt(count / 2)) : 1 / count;
}
/// What the penalty adds to the gradient of each P of a row whose P have this sum, of n_rows rows.
template <class A>
FARFIELD_HD A penalty_gradient(double penalty, int64_t n_rows, A sum) {
  return static_cast<A>(2 * penalty / static_cast<double>(n_rows)) * (sum - 1);
}

}  // namespace farfield
