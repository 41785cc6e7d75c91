#pragma once
// Loads of warpgroup kernels, in bfloat16, by TMA copies.

#include "engine/cuda/attention_plain_scores.cuh"
#include "engine/cuda/attention_warpgroup_products.cuh"
#include "engine/cuda/copy_bulk.cuh"

namespace farfield::attention_cuda {

/// The maps of a problem's tensors; dout and tables if present.
struct WarpgroupMaps {
  TensorMap q, k, v, dout;
  TableMaps tables;

  /// For kernels that copy so many entries of a table by distance at once.
  static WarpgroupMaps of(const Problem<BFloat16>& p, const BFloat16* dout, int n_copied) {
    const int64_t D = p.head_dim;
    const auto map_of = [&](const BFloat16* x, const TensorAxis& row, const TensorAxis& head,
                            int64_t batch_stride) {
      return map_of_rows(x, D, row, head, {p.n_batch, batch_stride}, kWarpgroupRows);
    };
    const int64_t n_head = p.n_head;
    const auto heads = [&](const BFloat16* x, int64_t n) {  // HeadRows of Problem::rows_of()
      return map_of(x, {n, p.row_step * D}, {n_head, (p.is_packed ? 3 : n) * D},
                    p.row_step * n * (p.is_packed ? 1 : n_head) * D);
    };
    WarpgroupMaps maps = {heads(p.q, p.n_query), heads(p.k, p.n_key), heads(p.v, p.n_key), {}, {}};
    if (dout)  // [B, T, H, K]
      maps.dout = map_of(dout, {p.n_query, n_head * D}, {n_head, D}, p.n_query * n_head * D);
    const int64_t n_entry = n_head * p.n_entry;
    if (p.bias) maps.tables.bias = map_of_floats(p.bias, n_entry, n_copied);
    if (p.weight) maps.tables.weight = map_of_floats(p.weight, n_entry, n_copied);
    return maps;
  }
};

/// Begins to load rows [row, row + 64) of a head; missing rows are 0.
template <int D>
__device__ void copy_rows(SwizzledTile<D, kWarpgroupRows>& to, const TensorMap& map,
                          const Head& head, int row, CopyBarrier& barrier) {
#pragma unroll
  for (int panel = 0; panel < D / kSwizzledColumns; ++panel)
    copy_box(to.at[panel], map, panel * kSwizzledColumns, row, head.h, head.batch, barrier);
}

/// A place in a ring of kStages stages of tiles, and whether the ring was gone through an odd
/// number of times.
template <int kStages>
struct StageCursor {
  int stage = 0;
  uint32_t parity = 0;

  __device__ int next() const { return stage + 1 == kStages ? 0 : stage + 1; }
  __device__ void step() {
    stage = next();
    if (stage == 0) parity ^= 1;
  }
};

/// A warp's part in the load of a tile: n_bytes, perhaps none, by copy(), which one lane calls.
/// Several warps have a part, so that none is late. By all lanes of all warps.
template <class Copy>
__device__ void load_part(bool is_own, CopyBarrier& barrier, int n_bytes, const Copy& copy) {
  if (!is_own || !is_elected()) return;
  barrier.expect(n_bytes);
  copy();
}

/// The part of a warp that loads tables by distance, where these are copied in bulk.
template <class Scores, class Tables>
__device__ void load_tables(bool is_own, const Scores& scores, Tables& shared,
                            const WarpgroupMaps& maps, int query, int key, int n_key,
                            CopyBarrier& barrier) {
  int n_bytes = 0;
  if constexpr (Scores::kCopiesInBulk) n_bytes = scores.copied_bytes(shared);
  load_part(is_own, barrier, n_bytes, [&] {
    if constexpr (Scores::kCopiesInBulk)
      scores.copy(shared, maps.tables, query, key, n_key, barrier);
  });
}
/// The maps of tables, for tiles of S::kOwn and S::kLoop rows.
template <class Scores, class S>
constexpr int copied_entries() {
  if constexpr (Scores::kCopiesInBulk)
    return Scores::template Loaded<S::kOwn + S::kLoop>::kBox;
  else
    return 0;
}

/// Barriers for tiles that are loaded in n_part parts. By all threads, who wait for each other
/// before the first load.
template <int kStages>
__device__ void init_barriers(CopyBarrier (&barriers)[kStages], int n_part) {
  if (threadIdx.x == 0) {
    for (CopyBarrier& barrier : barriers) barrier.init(n_part);
    show_to_async_proxy();
  }
}

}  // namespace farfield::attention_cuda
