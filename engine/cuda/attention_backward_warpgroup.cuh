#pragma once
// The backward pass of attention_backward.cuh by warpgroups, for devices with warpgroup products:
// heads of 64 or 128 components in bfloat16, plain scores. A block is one warpgroup.

#include "engine/cuda/attention_backward.cuh"
#include "engine/cuda/attention_warpgroup_loads.cuh"

namespace farfield::attention_cuda {

/// Rows of the tiles that a block owns and of the tiles that it walks over, and the kernel's own
/// settings. With a row scale, the factor of dot products differs between queries.
template <Side kOwnSide, int D, class Scores, Tables kMade, bool kHasRowScale>
struct WarpgroupBackwardSizes : WarpSizes<D, 1, kWarpgroup> {
  static constexpr Side kSide = kOwnSide;
  static constexpr int kLoop = 64;
  /// While one is read by products that have begun, one by others, and one is loaded: where there
  /// is no room for it, after the first of them.
  static constexpr int kStages = D <= 64 ? 3 : 2;
  /// Blocks that a multiprocessor is to hold at once.
  static constexpr int kBlocks =
      D <= 64 && kOwnSide == Side::queries && !Scores::kAddsRowBias ? 3 : 2;
  /// Whether of a Row the end is enough.
  static constexpr bool kHasRowEnds = !Scores::kAddsRowBias && !kHasRowScale;
  /// Whether factors of dot products are applied to sums of gradients, not to each gradient.
  static constexpr bool kScalesSums = kOwnSide == Side::queries || kHasRowEnds;
  using SharedRow = std::conditional_t<kHasRowEnds, RowEnd, Row>;

  /// Warps whose sums of diagonals are read at once: more take more registers.
  static constexpr int kStripsAtOnce = kMade != Tables::both ? 4 : D <= 64 ? 2 : 1;
  using TableSums = TableGradients<WarpgroupBackwardSizes, kMade, false>;
  /// Memory for the parts of tables: two of them save a barrier, where there is room for them.
  static constexpr int kTableStages = D <= 64 && kMade != Tables::both ? 2 : 1;
};

template <int D, class S, class Scores>
struct WarpgroupBackwardShared {
  struct OwnRows {
    SwizzledTile<D, S::kOwn> x, y;  // k and v, or q and dout
  };
  struct Stored {
    Tile<BFloat16, D, S::kOwn> dx, dv;
  };
  union {
    OwnRows own;
    Stored stored;  // when all is summed
  };
  SwizzledTile<D, S::kLoop> loop_x[S::kStages], loop_y[S::kStages];  // q and dout, or k and v
  static constexpr int kRowStages = S::kSide == Side::keys ? S::kStages : 1;
  alignas(16) typename S::SharedRow rows[kRowStages][S::kSide == Side::keys ? S::kLoop : S::kOwn];
  alignas(128) typename Scores::template Loaded<S::kOwn + S::kLoop> scores[S::kStages];
  CopyBarrier loaded[S::kStages];
  typename S::TableSums::Shared tables[S::kTableStages];  // last: left out without any
};

/// Whether the ends of rows are enough for kernels for warpgroups.
template <class T>
bool has_row_ends(const Problem<T>& p) {
  return p.score_kind() == ScoreKind::plain && !p.row_scale;
}
/// Whether a backward pass takes these kernels. Heads of 128 leave no registers for whole rows.
template <class T>
bool takes_warpgroups_backward(Cuda device, const Problem<T>& p, const T* dout) {
  return takes_warpgroups(device, p) && p.can_move_pieces(dout) &&
         (p.head_dim <= 64 || has_row_ends(p));
}

/// Rows of queries in shared memory, which have one factor.
struct RowEnds {
  const RowEnd* ends;
  float factor;

  __device__ Row operator[](int i) const {
    return {factor, -kInfinity, ends[i].shift, ends[i].dot};
  }
};
template <class T>
__device__ const Row* view_of(const Problem<T>&, const Row* rows) {
  return rows;
}
template <class T>
__device__ RowEnds view_of(const Problem<T>& p, const RowEnd* ends) {
  return {ends, p.scale};
}
template <Side kOwn, int D, Tables kMade, bool kHasRowScale, class Scores>
__global__ void __launch_bounds__(
    kWarpgroup, WarpgroupBackwardSizes<kOwn, D, Scores, kMade, kHasRowScale>::kBlocks)
    attention_backward_warpgroup_kernel(Problem<BFloat16> p, BackwardArguments<BFloat16> args,
                                        const __grid_constant__ WarpgroupMaps maps) {
#ifdef FARFIELD_HAS_WGMMA
  using T = BFloat16;
  using S = WarpgroupBackwardSizes<kOwn, D, Scores, kMade, kHasRowScale>;
  constexpr bool kOwnsKeys = kOwn == Side::keys, kMakesTables = kMade != Tables::none;
  static_assert(!kMakesTables || kOwnsKeys);
  constexpr int kPieces = S::kLoop / 8;
  auto& shared = *dynamic_shared<WarpgroupBackwardShared<D, S, Scores>>();
  using TableSums = typename S::TableSums;

  // Kept, since to read threadIdx is to wait.
  const int thread = computed_anew(static_cast<int>(threadIdx.x)), in_warp = thread % kWarp;
  const int warp = warp_of_block();
  const Lane lane{warp * kWarpRows, 0, warp * kWarpRows + in_warp / 4, in_warp % 4 * 2};
  const auto slot = static_cast<int>(blockIdx.x), h = static_cast<int>(blockIdx.y);
  const int n_own = kOwnsKeys ? p.n_key : p.n_query;
  TableSums dtables;
  if constexpr (kMakesTables)
    if (args.tables.any())
      for (auto& tables : shared.tables) TableSums::clear(tables);
  init_barriers(shared.loaded, 4);  // two tiles, rows, tables
  StageCursor<S::kStages> waited;   // of the tile that is waited for next

  for (int round = 0; round < args.order.n_round(); ++round) {
    const TileOf taken = args.order.at(slot, round);
    const int tile = uniform(taken.tile);  // those with the most work first
    if (tile < 0) continue;
    const Head head{uniform(taken.index), h};
    const int own = (kOwnsKeys ? tile : args.order.n_tiles() - 1 - tile) * S::kOwn;
    const auto* const rows_of_head = [&] {  // or their ends
      const int64_t first = static_cast<int64_t>(p.index_of(head)) * args.n_row;
      if constexpr (S::kHasRowEnds)
        return args.row_ends + first;
      else
        return args.rows + first;
    }();

    show_to_async_proxy();
    __syncthreads();  // all are done with the last item
    if constexpr (kOwnsKeys) dtables.start();
    Scores scores(p, head);
    const auto tiles_of = [&p](int first) {
      return (kOwnsKeys ? p.template query_tiles<S::kOwn, S::kLoop>(first)
                        : p.template key_tiles<S::kOwn, S::kLoop>(first))
          .in_uniform();
    };
    const TileList tiles = tiles_of(own);
    // Each warp loads a part, and before the first tile also its part of the block's own rows.
    const auto load_loop = [&](int t, int stage, bool with_own) {
      const int loop = tiles.at(t) * S::kLoop;
      const int query = kOwnsKeys ? loop : own, key = kOwnsKeys ? own : loop;
      constexpr int kKeys = kOwnsKeys ? S::kOwn : S::kLoop,
                    kQueries = kOwnsKeys ? S::kLoop : S::kOwn;
      if constexpr (!Scores::kCopiesInBulk)
        scores.load(shared.scores[stage], query, kQueries, key, kKeys);
      CopyBarrier& barrier = shared.loaded[stage];
      const auto load_tile = [&](int part, auto& walked, const TensorMap& map, auto& own_tile,
                                 const TensorMap& own_map) {
        const int n_bytes = int{sizeof(walked)} + (with_own ? int{sizeof(own_tile)} : 0);
        load_part(warp == part, barrier, n_bytes, [&] {
          if (with_own) copy_rows(own_tile, own_map, head, own, barrier);
          copy_rows(walked, map, head, loop, barrier);
        });
      };
      load_tile(0, shared.loop_x[stage], kOwnsKeys ? maps.q : maps.k, shared.own.x,
                kOwnsKeys ? maps.k : maps.q);
      load_tile(1, shared.loop_y[stage], kOwnsKeys ? maps.dout : maps.v, shared.own.y,
                kOwnsKeys ? maps.v : maps.dout);
      auto& rows = shared.rows[kOwnsKeys ? stage : 0];
      const bool has_rows = kOwnsKeys || with_own;
      load_part(warp == 2, barrier, has_rows ? int{sizeof(rows)} : 0, [&] {
        if (has_rows) copy_bytes(rows, rows_of_head + query, int{sizeof(rows)}, barrier);
      });
      load_tables(warp == 3, scores, shared.scores[stage], maps, query, key, kKeys, barrier);
    };
    const auto wait_for_tile = [&](bool is_there) {
      if constexpr (!Scores::kCopiesInBulk) wait_for_copies();
      __syncthreads();  // all have read the tile before the last
      if (!is_there) return;
      shared.loaded[waited.stage].wait(waited.parity);
      waited.step();
    };
    float s[1][kPieces][4], dp[1][kPieces][4];  // dp: dot products of dout and v
    float dx[1][S::kColumns / 8][4] = {};
    [[maybe_unused]] float dv[1][S::kColumns / 8][4] = {};
    const auto hold_sums = [&] {
      hold(s[0]);
      hold(dp[0]);
      hold(dx[0]);
      if constexpr (kOwnsKeys) hold(dv[0]);
    };
    const auto end_products = [&] {
      wait_for_product_groups<0>();
      hold_sums();
    };
    const auto begin_scores = [&](int stage) {
      begin_dot_products(s, shared.own.x, shared.loop_x[stage]);
      begin_dot_products(dp, shared.own.y, shared.loop_y[stage]);
    };
    const Row* own_rows = nullptr;
    if constexpr (!kOwnsKeys && Scores::kAddsRowBias) own_rows = shared.rows[0];
    [[maybe_unused]] WarpSegmentSums<S> row_bias_sums(p.row_bias, args.segments, own_rows,
                                                      lane.row);
    const auto rows_of = [&](int stage) { return view_of(p, shared.rows[kOwnsKeys ? stage : 0]); };
    // The factor of this lane's rows that is applied at the end of all sums.
    const auto own_factor = [&](int row) {
      if constexpr (!S::kScalesSums)
        return 1.0f;
      else if constexpr (S::kHasRowEnds)
        return p.scale;
      else
        return shared.rows[0][lane.row + row].factor;
    };
    // Runs while the tile's products are computed: finding segments waits for one load after the
    // other.
    const auto start_scores = [&](int t, int stage) {
      const int loop = tiles.at(t) * S::kLoop;
      scores.start_tile(shared.scores[stage], kOwnsKeys ? loop : own,
                        kOwnsKeys ? S::kLoop : S::kOwn, kOwnsKeys ? own : loop,
                        kOwnsKeys ? S::kOwn : S::kLoop);
      if constexpr (kOwnsKeys)
        scores.start_part(0, S::kLoop, lane.first, S::kPartRows);
      else
        scores.start_part(lane.first, S::kPartRows, 0, S::kLoop);
      if constexpr (Scores::kAddsRowBias)
        start_segments<kOwnsKeys, S>(scores, rows_of(stage), lane);
    };
    int stage = waited.stage;  // of the tile whose products have been begun
    if (tiles.count() > 0) {
      load_loop(0, stage, true);
      wait_for_tile(true);
      hold_sums();
      begin_product_group();
      begin_scores(stage);
      end_product_group();
      if (tiles.count() > 1) load_loop(1, waited.stage, false);
      start_scores(0, stage);
      end_products();
    }
    for (int t = 0; t < tiles.count(); ++t) {
      const int loop = tiles.at(t) * S::kLoop;
      const int query = kOwnsKeys ? loop : own, key = kOwnsKeys ? own : loop;
      const auto rows = rows_of(stage);
      [[maybe_unused]] float by_feature[1][kPieces][4];
      if constexpr (Scores::kAddsRowBias)
        add_row_bias<kOwnsKeys>(scores, rows, lane, s, by_feature);
      [[maybe_unused]] TableParts<S> parts;
      Factors<T, 1, kPieces> weights, gradients;
      take_gradients<kOwn, true, kMade>(
          p, args, scores, rows,
          TilePairs<T, S, 1, kPieces>{query, key, lane, false, by_feature, s, dp, weights,
                                      gradients, parts, nullptr});
      if constexpr (!kOwnsKeys && Scores::kAddsRowBias)
        if (args.segments) row_bias_sums.add_part(s, scores, lane.column);
      auto& tables = shared.tables[t % S::kTableStages];
      if constexpr (kMakesTables) {
        if constexpr (S::kTableStages == 1) __syncthreads();  // the last parts have been read
        TableSums::put(parts, args.tables, tables, thread);
      }
      // The next tile and all parts are there for all, who have read the tile before this one.
      const int next = waited.stage;
      wait_for_tile(t + 1 < tiles.count());
      hold_sums();
      begin_product_group();
      if constexpr (kOwnsKeys) begin_adding_rows(dv, weights, shared.loop_y[stage]);
      begin_adding_rows(dx, gradients, shared.loop_x[stage]);
      begin_scores(next);  // after the last tile of nothing that anybody reads
      end_product_group();
      constexpr bool kLoadsAfter = S::kStages == 2;
      if (!kLoadsAfter && t + 2 < tiles.count()) load_loop(t + 2, waited.stage, false);
      if (t + 1 < tiles.count()) start_scores(t + 1, next);
      if constexpr (kMakesTables)
        dtables.add_put(p.first_position() + query - key, args.tables, p.n_key, tables, thread);
      end_products();
      if (kLoadsAfter && t + 2 < tiles.count()) {
        __syncthreads();  // all have read this tile
        load_loop(t + 2, waited.stage, false);
      }
      stage = next;
    }

    // Not kept while tiles are walked, for want of registers.
    const int stored_first = uniform(computed_anew(own));
    const Head stored_head{uniform(computed_anew(head.batch)), h};
    if constexpr (kMakesTables) {
      const TileList walked = tiles_of(stored_first);
      if (walked.count() > 0)
        dtables.finish(p.first_position() + walked.at(walked.count() - 1) * S::kLoop - stored_first,
                       args.tables, p.n_key);
    }
    if constexpr (!kOwnsKeys && Scores::kAddsRowBias)
      if (args.segments) row_bias_sums.finish(p.index_of(head), own, p.n_query);
    __syncthreads();  // the own tiles have been read
    const float factors[2] = {own_factor(0), own_factor(8)};
    put_sums<S::kColumns>(dx[0], factors[0], factors[1], shared.stored.dx, lane.first, 0);
    if constexpr (kOwnsKeys) put_sums<S::kColumns>(dv[0], 1, 1, shared.stored.dv, lane.first, 0);
    __syncwarp();
    if (args.turned_by.half > 0) {
      turn_back<S>(shared.stored.dx, lane.first,
                   p.rows(args.dx, p.rows_of(stored_head, n_own), stored_first), args.turned_by,
                   args.turned_by.row(stored_head.batch, stored_first));
      __syncwarp();
    }
    const auto store = [&](Part part, const auto& gradients, T* to) {
      store_gradients<S>(p, args, part, stored_head, stored_first, n_own, lane, gradients, to);
    };
    store(kOwnsKeys ? Part::k : Part::q, shared.stored.dx, args.dx);
    if constexpr (kOwnsKeys) store(Part::v, shared.stored.dv, args.dv);
  }
#endif
}

template <Side kOwn, class Scores>
void run_backward_by_warpgroups(Cuda device, const Problem<BFloat16>& p,
                                const BackwardArguments<BFloat16>& args) {
  const dim3 grid(static_cast<unsigned>(args.order.n_slot()), static_cast<unsigned>(p.n_head));
  const auto run = [&](auto size, auto made, auto has_row_scale) {
    using S = WarpgroupBackwardSizes<kOwn, size(), Scores, made(), has_row_scale()>;
    using Shared = WarpgroupBackwardShared<size(), S, Scores>;
    static_assert(sizeof(Shared) <= kLargeShared);
    const bool has_tables = made() != Tables::none && args.tables.any();
    launch(attention_backward_warpgroup_kernel<kOwn, size(), made(), has_row_scale(), Scores>, grid,
           kWarpgroup, sizeof(Shared) - (has_tables ? 0 : sizeof(Shared::tables)),
           stream_of(device), p, args,
           WarpgroupMaps::of(p, args.dout, copied_entries<Scores, S>()));
  };
  dispatch_warpgroup_head_dim(p.head_dim, [&](auto size) {
    dispatch_made<kOwn, Sums::all, Scores>(p, args.tables, [&](auto made) {
      if constexpr (!Scores::kAddsRowBias)
        if (has_row_ends(p)) return run(size, made, std::false_type());
      if constexpr (size() <= 64) run(size, made, std::true_type());
    });
  });
}
extern template void run_backward_by_warpgroups<Side::keys, PlainScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward_by_warpgroups<Side::queries, PlainScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward_by_warpgroups<Side::keys, RowBiasScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward_by_warpgroups<Side::queries, RowBiasScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);

}  // namespace farfield::attention_cuda
