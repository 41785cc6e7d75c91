#pragma once

#include "engine/cpu/attention_problem.h"

namespace farfield::attention_cpu {

/// Whether attend_one_query() serves a problem: one query, softmax with tables by distance at most,
/// heads of whole vectors.
template <class T>
bool is_one_query(const Problem<T>& p) {
  return p.n_query == 1 && p.normalizer.kind == Normalizer::Kind::softmax && !p.far_q && !p.ids &&
         !p.far_ids_q && !p.row_bias.defined() && !p.mask.is_on() &&
         p.head_dim % kLanes<Accumulate<T>> == 0;
}

/// The output [B, 1, H, K] of a problem with one query, and its log-sum-exp for each head, or null.
/// Keys and values are read once, where they are.
template <class T>
void attend_one_query(const Problem<T>& p, T* out, Accumulate<T>* lse);

}  // namespace farfield::attention_cpu
