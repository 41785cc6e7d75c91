#pragma once
// The forward pass by warpgroups, where a device has their products: that of
// attention_forward.cuh, for heads of 64 components in bfloat16 and plain scores.

#include "engine/cuda/attention_forward.cuh"
#include "engine/cuda/attention_warpgroup_products.cuh"

namespace farfield::attention_cuda {

/// A block of two warpgroups, which own 64 queries each.
struct WarpgroupForwardSizes : WarpSizes<kWarpgroupColumns, 1, 2 * kWarpgroup> {
  static constexpr int kLoop = 64;
};

template <class Scores>
struct WarpgroupForwardShared {
  using S = WarpgroupForwardSizes;
  static constexpr int kStages = 2;  // while one is read, one is loaded
  union {
    SwizzledTile<kWarpgroupRows> q[S::kOwn / kWarpgroupRows];  // of each warpgroup
    Tile<BFloat16, kWarpgroupColumns, S::kOwn> stored;         // when all is summed
  };
  SwizzledTile<S::kLoop> k[kStages], v[kStages];
  typename Scores::Shared scores[kStages];
};

template <class Scores>
__global__ void __launch_bounds__(WarpgroupForwardSizes::kThreads, 2)
    attention_forward_warpgroup_kernel(Problem<BFloat16> p, ForwardOutputs<BFloat16> to) {
#ifdef FARFIELD_HAS_WGMMA
  using S = WarpgroupForwardSizes;
  constexpr int D = kWarpgroupColumns;
  auto& shared = *dynamic_shared<WarpgroupForwardShared<Scores>>();
  const auto own_rows = [&p] { return ForwardItem::of_block<S>(p); };
  const ForwardItem item = own_rows();
  const Head head = item.head;
  const int query = item.query;

  using Rows = ForwardRows<BFloat16, D, Scores, S>;
  const HeadRows queries = p.rows_of(head, p.n_query), keys = p.rows_of(head, p.n_key);
  Scores scores(p, head);
  const TileList tiles = p.template key_tiles<S::kOwn, S::kLoop>(query);
  const TileLoader<BFloat16, SwizzledRows, S::kThreads> loader(p.rows(p.k, keys, 0),
                                                               p.rows(p.v, keys, 0));
  const auto load_keys = [&](int t, int stage) {
    const int key = tiles.at(t) * S::kLoop, stride = p.row_step * D;
    scores.template load<S::kThreads>(shared.scores[stage], query, S::kOwn, key, S::kLoop);
    loader.load(shared.k[stage], stride, shared.v[stage], stride, key);
  };
  const auto q = p.rows(p.q, queries, query);
  const TileLoader<BFloat16, SwizzledRows, S::kThreads> own_loader(q, q);
  for (int i = 0; i < S::kOwn / kWarpgroupRows; ++i)
    own_loader.load_first(shared.q[i], q.stride, i * kWarpgroupRows);
  load_keys(0, 0);

  Rows rows(p, query);
  const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup;
  for (int t = 0; t < tiles.count(); ++t) {
    const int key = tiles.at(t) * S::kLoop, stage = t % 2;
    scores.start_tile(shared.scores[stage], query, S::kOwn, key, S::kLoop);
    wait_for_copies();
    show_to_products();
    __syncthreads();  // this tile is there for all, and all have read what was before it
    if (t + 1 < tiles.count()) load_keys(t + 1, 1 - stage);
    if (!scores.start_part(warpgroup * kWarpgroupRows, kWarpgroupRows, 0, S::kLoop)) continue;
    scores.start_part(Rows::first(), kWarpRows, 0, S::kLoop);

    typename Rows::Pieces s;
    hold(s[0]);
    begin_product_group();
    begin_dot_products(s, shared.q[warpgroup], shared.k[stage]);
    end_product_group();
    rows.start_segments(scores);  // waits for one load after the other
    wait_for_product_groups<0>();
    hold(s[0]);
    float largest[Rows::kRows];
    rows.take_scores(scores, s, largest);
    rows.normalize(s, largest);
    const auto weights = Rows::weights_of(s);
    hold(rows.out()[0]);
    begin_product_group();
    begin_adding_rows(rows.out(), weights, shared.v[stage]);
    end_product_group();
    wait_for_product_groups<0>();
    hold(rows.out()[0]);
  }
  __syncthreads();  // q has been read
  rows.store(to, own_rows(), shared.stored);
#endif
}

template <class Scores>
void run_forward_by_warpgroups(Cuda device, const Problem<BFloat16>& p,
                               const ForwardOutputs<BFloat16>& to) {
  using Shared = WarpgroupForwardShared<Scores>;
  static_assert(sizeof(Shared) <= kLargeShared);
  constexpr int kQueries = Shared::S::kOwn;
  const int64_t n_blocks = static_cast<int64_t>((p.n_query + kQueries - 1) / kQueries) * p.heads();
  launch(attention_forward_warpgroup_kernel<Scores>, static_cast<unsigned>(n_blocks),
         Shared::S::kThreads, sizeof(Shared), stream_of(device), p, to);
}
extern template void run_forward_by_warpgroups<PlainScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward_by_warpgroups<RowBiasScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);

}  // namespace farfield::attention_cuda
