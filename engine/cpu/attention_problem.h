#pragma once

#include <cmath>

#include "engine/cpu/attention_pack.h"
#include "engine/cpu/attention_tile.h"
#include "engine/kernels/attention.h"

namespace farfield::attention_cpu {

/// The sizes and pointers of one call, T the element type, A its accumulation type. A "head" below
/// is one of n_batch * n_head.
template <class T>
struct Problem {
  using A = Accumulate<T>;

  Problem(const Tensor& q_in, const Tensor& k_in, const Tensor& v_in, const AttentionRule& rule)
      : n_batch(q_in.dim(0)),
        n_head(q_in.dim(1)),
        n_query(q_in.dim(2)),
        n_key(k_in.dim(2)),
        head_dim(q_in.dim(3)),
        width(round_up(head_dim, kLanes<A>)),
        window(rule.window),
        sinks(std::min(rule.sinks, n_key)),
        scale(static_cast<A>(1 / std::sqrt(static_cast<double>(head_dim)))),
        q(q_in.data<T>()),
        k(k_in.data<T>()),
        v(v_in.data<T>()),
        bias(rule.bias.defined() ? rule.bias.data<A>() : nullptr),
        weight(rule.weight.defined() ? rule.weight.data<A>() : nullptr),
        row_scale(rule.row_scale.defined() ? rule.row_scale.data<A>() : nullptr) {}

  int64_t n_batch, n_head, n_query, n_key, head_dim;
  int64_t width;  ///< head_dim in whole vectors
  int64_t window, sinks;
  A scale;
  const T *q, *k, *v;
  const A *bias, *weight, *row_scale;

  int64_t heads() const { return n_batch * n_head; }
  /// Position of the first query.
  int64_t first_position() const { return n_key - n_query; }
  const T* q_row(int64_t head, int64_t i) const { return q + (head * n_query + i) * head_dim; }
  const T* k_row(int64_t head, int64_t j) const { return k + (head * n_key + j) * head_dim; }
  const T* v_row(int64_t head, int64_t j) const { return v + (head * n_key + j) * head_dim; }
  /// Offset of row i of a head in a tensor [B, T, H, K].
  int64_t token_row(int64_t head, int64_t i) const {
    return (((head / n_head) * n_query + i) * n_head + head % n_head) * head_dim;
  }
  int64_t token_stride() const { return n_head * head_dim; }
  const A* bias_of(int64_t head) const { return bias ? bias + (head % n_head) * n_key : nullptr; }
  const A* weight_of(int64_t head) const {
    return weight ? weight + (head % n_head) * n_key : nullptr;
  }
  /// What the dot product of query i is multiplied by, before the weight.
  A factor(int64_t i) const { return row_scale ? scale * row_scale[i] : scale; }

  /// Queries [i, i + rows) against keys [j, j + cols).
  TileView view(int64_t i, int64_t rows, int64_t j, int64_t cols) const {
    return {rows, cols, first_position() + i - j, window, std::clamp(sinks - j, int64_t{0}, cols)};
  }
};

}  // namespace farfield::attention_cpu
