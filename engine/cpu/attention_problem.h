#pragma once

#include <cmath>

#include "engine/cpu/attention_far.h"
#include "engine/cpu/attention_pack.h"
#include "engine/cpu/attention_terms.h"
#include "engine/cpu/attention_tile.h"
#include "engine/cpu/instruction_set.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/attention_dropout.h"
#include "engine/kernels/attention_normalizer.h"

namespace farfield::attention_cpu {

template <class T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

/// f(terms): how scores and their gradients are summed over head_dim: pairs of bfloat16 where a
/// product of matrices multiplies such pairs. Both passes take the same.
template <class T, class F>
void with_score_terms(const F& f) {
#if defined(__AVX512BF16__)
  if constexpr (std::is_same_v<T, BFloat16>)
    if (cpu_features().has_fast_pairs()) return f(Bf16Pairs{});
#endif
  f(Elements<Accumulate<T>>{});
}

/// Where the rows of heads lie, in elements from their tensor's first.
struct HeadRows {
  int64_t n_head;  ///< of a sequence
  int64_t batch_step, head_step, row_step;

  int64_t at(int64_t head, int64_t row) const {
    return head / n_head * batch_step + head % n_head * head_step + row * row_step;
  }
  /// Of [B, H, T, K].
  static HeadRows by_head(int64_t n_head, int64_t n_row, int64_t head_dim) {
    return {n_head, n_head * n_row * head_dim, n_row * head_dim, head_dim};
  }
  /// Of q, k or v in a QKV projection (Heads::packed).
  static HeadRows packed(int64_t n_head, int64_t n_row, int64_t head_dim) {
    const int64_t row_step = 3 * n_head * head_dim;
    return {n_head, n_row * row_step, 3 * head_dim, row_step};
  }
};

/// The sizes and pointers of one call, T the element type, A its accumulation type. A "head" below
/// is one of n_batch * n_head.
template <class T>
struct Problem {
  using A = Accumulate<T>;

  Problem(const Heads& heads, const AttentionRule& rule)
      : n_batch(heads.q.dim(0)),
        n_head(heads.q.dim(1)),
        group_size(n_head / heads.k.dim(1)),
        n_query(heads.q.dim(2)),
        n_key(heads.n_key()),
        key_begin(heads.key_rows.begin),
        head_dim(heads.q.dim(3)),
        is_packed(heads.packed.defined()),
        q_rows(rows_of(heads.q)),
        k_rows(rows_of(heads.k)),
        width(round_up(head_dim, kLanes<A>)),
        window(rule.window),
        sinks(std::min(rule.sinks, n_key)),
        far_pairs{rule.switch_distance, rule.switch_position},
        scale(static_cast<A>(1 / std::sqrt(static_cast<double>(head_dim)))),
        q(heads.q.data<T>()),
        k(heads.k.data<T>()),
        v(heads.v.data<T>()),
        far_q(data_or_null<T>(heads.far.q)),
        far_k(data_or_null<T>(heads.far.k)),
        bias(data_or_null<A>(rule.bias)),
        weight(data_or_null<A>(rule.weight)),
        row_scale(data_or_null<A>(rule.row_scale)),
        ids(data_or_null<int32_t>(rule.ids)),
        far_ids_q(data_or_null<int32_t>(rule.far_ids_q)),
        far_ids_k(data_or_null<int32_t>(rule.far_ids_k)),
        ids_per_sequence(rule.ids.defined() && rule.ids.rank() == 2),
        n_entry(rule.bias.defined()     ? rule.bias.dim(1)
                : rule.weight.defined() ? rule.weight.dim(1)
                                        : n_key),
        row_bias(rule.row_bias, n_query, n_key),
        normalizer(rule.normalizer),
        mask(rule.dropout, n_head, n_query, n_key) {}

  int64_t n_batch, n_head;
  int64_t group_size;  ///< heads that share a head of k and v
  int64_t n_query, n_key;
  int64_t key_begin;  ///< the row of the first key
  int64_t head_dim;
  bool is_packed;
  HeadRows q_rows;  ///< of q and far_q
  HeadRows k_rows;  ///< of k, v and far_k
  int64_t width;    ///< head_dim in whole vectors
  int64_t window, sinks;
  FarPairs far_pairs;
  A scale;
  const T *q, *k, *v;
  const T *far_q, *far_k;  ///< null: far pairs take q and k too
  const A *bias, *weight, *row_scale;
  const int32_t *ids, *far_ids_q, *far_ids_k;
  bool ids_per_sequence;
  int64_t n_entry;  ///< of bias and weight, per head
  RowBiasTables<A> row_bias;
  Normalizer normalizer;
  AttentionMask mask;

  int64_t heads() const { return n_batch * n_head; }
  /// Position of the first query.
  int64_t first_position() const { return n_key - n_query; }
  /// Offsets of row i of q, row j of k or v, of a head.
  int64_t q_at(int64_t head, int64_t i) const { return q_rows.at(head, i); }
  int64_t k_at(int64_t head, int64_t j) const {
    return k_rows.at(head / group_size, key_begin + j);
  }
  /// Of x, which is like q, or has rows of keys for each head of q or k.
  HeadRows rows_of(const Tensor& x) const {
    const auto make = is_packed ? HeadRows::packed : HeadRows::by_head;
    return make(x.dim(1), x.dim(2), head_dim);
  }
  /// Offset of row i of a head in a tensor [B, T, H, K].
  int64_t token_row(int64_t head, int64_t i) const {
    return (((head / n_head) * n_query + i) * n_head + head % n_head) * head_dim;
  }
  int64_t token_stride() const { return n_head * head_dim; }
  Entries entries_of(int64_t batch) const {
    return {ids ? ids + (ids_per_sequence ? batch * n_key : 0) : nullptr, far_ids_q, far_ids_k,
            far_pairs, first_position()};
  }
  HeadTerms<A> terms_of(int64_t head) const {
    const int64_t table = (head % n_head) * n_entry;
    return {bias ? bias + table : nullptr, weight ? weight + table : nullptr,
            entries_of(head / n_head), row_bias.of_head(head % n_head)};
  }
  /// The factor of the dot products of query i, before the weight.
  A factor(int64_t i) const { return row_scale ? scale * row_scale[i] : scale; }

  /// The factor of max(0, score) in a relu normaliser.
  A relu_factor(int64_t i) const {
    return static_cast<A>(farfield::relu_factor(normalizer.kind, normalizer.parameter,
                                                n_visible(window, sinks, first_position() + i)));
  }

  /// Queries [i, i + rows) against keys [j, j + cols).
  TileView view(int64_t i, int64_t rows, int64_t j, int64_t cols) const {
    const int64_t position = first_position() + i;
    return {rows, cols, position - j, window, std::clamp(sinks - j, int64_t{0}, cols), position};
  }
  /// Which of its dot products take the far copies.
  Branches branches(const TileView& view) const { return {view, far_q ? far_pairs : FarPairs{}}; }
};

}  // namespace farfield::attention_cpu
