#pragma once
// Scores to probabilities, and gradients of probabilities to gradients of scores.

#include "engine/cuda/attention_scores.cuh"
#include "engine/kernels/attention_normalizer.h"

namespace farfield::attention_cuda {

/// Values that the pairs of a query share in the backward pass; a load of 16 bytes.
struct alignas(16) Row {
  float factor;     ///< of the dot products
  float threshold;  ///< of the clamp kinds, else -inf; of RowBiasScores row_factor()
  float shift;      ///< the log of the row's sum times kShiftUnit; relu kinds: the factor of P
  float dot;        ///< subtracted from dP

  __device__ float row_factor() const { return threshold; }
};
/// The part of a Row that differs between queries if factor and threshold do not.
struct alignas(8) RowEnd {
  float shift, dot;
};
static_assert(sizeof(Row) == 8 + sizeof(RowEnd), "which a row ends with");

template <class T>
__device__ float relu_factor_of(const Problem<T>& p, int query) {
  return static_cast<float>(
      relu_factor(p.kind, p.parameter, n_visible(p.window, p.sinks, p.first_position() + query)));
}

/// shift: Row::shift, or the largest score times kShiftUnit.
template <class Scores, class T>
__device__ float probability(const Problem<T>& p, float score, float shift, float threshold) {
  if constexpr (Scores::kIsGeneral) {
    if (p.is_relu) return relu_probability(score, shift);
    if (score < threshold) return 0;
  }
  return Scores::exp(score, shift);
}

/// The same in the backward pass, of a score of ScoreOf and the dot product that it is made of.
template <class Scores, class ScoreOf, class T>
__device__ float probability(const Problem<T>& p, [[maybe_unused]] float dot, float score,
                             const Row& row) {
  if constexpr (ScoreOf::kIsProduct)
    return Scores::exp_of_product(dot, row.factor, row.shift);
  else
    return probability<Scores>(p, score, row.shift, row.threshold);
}

/// The gradient of a score.
template <class Scores, class T>
__device__ float score_gradient(const Problem<T>& p, float score, float probability, float dp,
                                const Row& row) {
  if constexpr (Scores::kIsGeneral)
    if (p.is_relu) return relu_grad(score, row.shift, dp, row.dot);
  return softmax_grad(probability, dp, row.dot);
}

}  // namespace farfield::attention_cuda
