#pragma once
// Gradients of tables that are read by ids: no diagonals there. A warp looks for the pairs of one
// entry, by a search for each query, since ids do not fall; it computes their scores on its own.
// Slow, in O(1) memory; randomised positions and the like are small.

#include "engine/cuda/attention_normalizer.cuh"

namespace farfield::attention_cuda {

/// Inputs and outputs of the gradients of entries; null: not wanted.
template <class T>
struct EntryArguments {
  const T* dout;
  const Row* rows;  ///< [B * H, n_row]
  int n_row;
  float *dbias, *dweight;
};

/// The first of ids [0, n), which do not fall, that is at least `id`.
__device__ inline int lower_bound(const int* ids, int n, int64_t id) {
  int begin = 0, end = n;
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (ids[middle] < id)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

template <class T>
__device__ float dot_product(const T* a, const T* b, int n) {
  float sum = 0;
  for (int c = 0; c < n; ++c) sum = std::fma(widen(a[c]), widen(b[c]), sum);
  return sum;
}

template <class T>
__global__ void attention_entries_kernel(Problem<T> p, EntryArguments<T> args) {
  const int64_t warp = thread_index() / kWarp;
  if (warp >= int64_t{p.n_head} * p.n_entry) return;
  const int h = static_cast<int>(warp / p.n_entry), entry = static_cast<int>(warp % p.n_entry);
  double bias = 0, weight = 0;
  for (int b = 0; b < p.n_batch; ++b) {
    const Head head{b, h};
    const int64_t index = p.index_of(head);
    const int* const ids = p.ids + (p.ids_per_sequence ? int64_t{b} * p.n_key : 0);
    GeneralScores<T> scores(p, head);
    scores.start_tile({}, 0, p.n_query, 0, p.n_key);
    for (int i = static_cast<int>(threadIdx.x) % kWarp; i < p.n_query; i += kWarp) {
      const int m = p.first_position() + i;
      const auto add = [&](int n) {
        if (!p.sees(i, n)) return;
        const bool is_far = p.is_far(m, m - n), copies = is_far && p.far_q;
        const int64_t q = p.rows(p.q, p.rows_of(head, p.n_query), i).first - p.q;
        const int64_t k =
            p.rows(p.k, p.template key_rows_of<GeneralScores<T>>(head), n).first - p.k;
        const Row row = args.rows[index * args.n_row + i];
        const Score score = scores(
            dot_product((copies ? p.far_q : p.q) + q, (copies ? p.far_k : p.k) + k, p.head_dim),
            row.factor, i, n);
        float dp =
            dot_product(p.rows(args.dout, p.token_rows_of(head), i).first, p.v + k, p.head_dim);
        if (p.mask.is_on())
          dp *= p.mask.keeps(index, i, n) ? static_cast<float>(p.mask.scale()) : 0.0f;
        const float ds = score_gradient<GeneralScores<T>>(
            p, score.value, probability<GeneralScores<T>>(p, score.value, row.shift, row.threshold),
            dp, row);
        bias += static_cast<double>(ds);
        weight += static_cast<double>(ds) * static_cast<double>(score.content);
      };
      if (p.far_ids_q && p.switch_distance > 0) {
        const int64_t id = int64_t{p.far_ids_q[i]} - entry;
        for (int n = lower_bound(p.far_ids_k, m + 1, id); n <= m && p.far_ids_k[n] == id; ++n)
          if (p.is_far(m, m - n)) add(n);
      }
      const auto add_near = [&](int n) {
        if (!p.far_ids_q || !p.is_far(m, m - n)) add(n);
      };
      if (p.ids) {
        const int64_t id = int64_t{ids[m]} - entry;
        for (int n = lower_bound(ids, m + 1, id); n <= m && ids[n] == id; ++n) add_near(n);
      } else if (entry <= m) {
        add_near(m - entry);
      }
    }
  }
  bias = warp_sum(bias);
  weight = warp_sum(weight);
  if (threadIdx.x % kWarp != 0) return;
  if (args.dbias) args.dbias[warp] = static_cast<float>(bias);
  if (args.dweight) args.dweight[warp] = static_cast<float>(weight);
}

}  // namespace farfield::attention_cuda
