#pragma once
// The forward pass of attention_forward.cuh by warpgroups, for devices with warpgroup products:
// heads of 64 or 128 components in bfloat16, plain scores.

#include "engine/cuda/attention_forward_rows.cuh"
#include "engine/cuda/attention_warpgroup_loads.cuh"

namespace farfield::attention_cuda {

/// A block's warpgroups, which own 64 queries each: four of a multiprocessor at once, or for heads
/// of 128 three, for want of registers.
template <int D>
inline constexpr int kForwardWarpgroups = D <= 64 ? 2 : 3;
template <int D>
struct WarpgroupForwardSizes : WarpSizes<D, 1, kForwardWarpgroups<D> * kWarpgroup> {
  static constexpr int kBlocks = D <= 64 ? 2 : 1;  ///< of a multiprocessor at once
  static constexpr int kLoop = 64;
  static constexpr bool kKeepsReference = true;
};

/// The products for the next tile do not begin with the last ones of a tile, as they do in the
/// backward passes: on an H200 that took 7 % longer at 512 tokens, and gained nothing at 8192.
template <int D, class Scores>
struct WarpgroupForwardShared {
  using S = WarpgroupForwardSizes<D>;
  static constexpr int kStages = 2;  // while one is read, one is loaded
  union {
    SwizzledTile<D, kWarpgroupRows> q[kForwardWarpgroups<D>];
    Tile<BFloat16, D, S::kOwn> stored;  // when all is summed
  };
  SwizzledTile<D, S::kLoop> k[kStages], v[kStages];
  alignas(128) typename Scores::template Loaded<S::kOwn + S::kLoop> scores[kStages];
  CopyBarrier loaded[kStages];
};

template <int D, class Scores>
__global__ void __launch_bounds__(WarpgroupForwardSizes<D>::kThreads,
                                  WarpgroupForwardSizes<D>::kBlocks)
    attention_forward_warpgroup_kernel(Problem<BFloat16> p, ForwardOutputs<BFloat16> to,
                                       const __grid_constant__ WarpgroupMaps maps) {
#ifdef FARFIELD_HAS_WGMMA
  using S = WarpgroupForwardSizes<D>;
  using Shared = WarpgroupForwardShared<D, Scores>;
  auto& shared = *dynamic_shared<Shared>();
  const auto own_rows = [&p] { return ForwardItem::of_block<S>(p); };
  const ForwardItem item = own_rows();
  const Head head = item.head;
  const int query = item.query;

  using Rows = ForwardRows<BFloat16, D, Scores, S>;
  Scores scores(p, head);
  const TileList tiles = p.template key_tiles<S::kOwn, S::kLoop>(query).in_uniform();
  const int warp = warp_of_block();
  init_barriers(shared.loaded, 3);  // keys, values, tables
  __syncthreads();
  const auto load_keys = [&](int t, int stage, bool with_queries) {
    const int key = tiles.at(t) * S::kLoop;
    if constexpr (!Scores::kCopiesInBulk)
      scores.template load<S::kThreads>(shared.scores[stage], query, S::kOwn, key, S::kLoop);
    // Loads the queries of every second warpgroup with the keys, of the others with the values.
    const auto load_half = [&](int part, auto& walked, const TensorMap& map) {
      const int n_own = with_queries ? (kForwardWarpgroups<D> + 1 - part) / 2 : 0;
      CopyBarrier& barrier = shared.loaded[stage];
      load_part(warp == part, barrier, int{sizeof(walked)} + n_own * int{sizeof(shared.q[0])}, [&] {
        for (int i = 0; i < n_own; ++i) {
          const int own = part + 2 * i;
          copy_rows(shared.q[own], maps.q, head, query + own * kWarpgroupRows, barrier);
        }
        copy_rows(walked, map, head, key, barrier);
      });
    };
    load_half(0, shared.k[stage], maps.k);
    load_half(1, shared.v[stage], maps.v);
    load_tables(warp == 2, scores, shared.scores[stage], maps, query, key, S::kLoop,
                shared.loaded[stage]);
  };
  load_keys(0, 0, true);  // there is a tile, since each query sees itself

  Rows rows(p, query);
  const int warpgroup = warp / 4;
  StageCursor<Shared::kStages> now;
  for (int t = 0; t < tiles.count(); ++t, now.step()) {
    const int key = tiles.at(t) * S::kLoop, stage = now.stage;
    scores.start_tile(shared.scores[stage], query, S::kOwn, key, S::kLoop);
    if constexpr (!Scores::kCopiesInBulk) wait_for_copies();
    __syncthreads();  // all have read the tile before this one
    if (t + 1 < tiles.count()) load_keys(t + 1, now.next(), false);
    shared.loaded[stage].wait(now.parity);
    if (!scores.start_part(warpgroup * kWarpgroupRows, kWarpgroupRows, 0, S::kLoop)) continue;
    if (query + warpgroup * kWarpgroupRows >= p.n_query) continue;  // it has no queries
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
  dispatch_warpgroup_head_dim(p.head_dim, [&](auto size) {
    using Shared = WarpgroupForwardShared<size(), Scores>;
    static_assert(sizeof(Shared) <= kLargeShared);
    constexpr int kQueries = Shared::S::kOwn;
    const int64_t n_blocks =
        static_cast<int64_t>((p.n_query + kQueries - 1) / kQueries) * p.heads();
    launch(attention_forward_warpgroup_kernel<size(), Scores>, static_cast<unsigned>(n_blocks),
           Shared::S::kThreads, sizeof(Shared), stream_of(device), p, to,
           WarpgroupMaps::of(p, nullptr, copied_entries<Scores, typename Shared::S>()));
  });
}
extern template void run_forward_by_warpgroups<PlainScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward_by_warpgroups<RowBiasScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);

}  // namespace farfield::attention_cuda
