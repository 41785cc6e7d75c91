#pragma once
// The backward pass. A block owns a tile of keys and walks the queries that see them, for dk, dv
// and the tables, or owns a tile of queries and walks the keys that these see, for dq: the same
// work with rows and columns exchanged. Scores are computed again from the rows' sums, as in
// FlashAttention (Dao et al. 2022, arXiv:2205.14135).

#include "engine/cuda/attention_gradient_rows.cuh"
#include "engine/cuda/context.h"

namespace farfield::attention_cuda {

/// As kBlocks, in the backward pass: two groups of rows take more registers, and save enough work;
/// and where there is one, shared memory leaves room for no more blocks.
template <int D, class Scores>
inline constexpr int kBackwardBlocks =
    Scores::kIsGeneral || Scores::kDrops ? kBlocks<D, Scores> : 2;

/// f(std::integral_constant<int, kGroups>()): the most, where a multiprocessor of the device has
/// shared memory for two such blocks.
template <int D, class Scores, class F>
void dispatch_groups(Cuda device, const F& f) {
  if constexpr (kMostGroups < D, Scores >> 1)
    if (most_shared_bytes(device) >= kLargeShared)
      return f(std::integral_constant<int, kMostGroups<D, Scores>>());
  f(std::integral_constant<int, 1>());
}

/// kMade: tables by distance whose gradients it makes: none; the named tables, if no others exist;
/// unknown: the tables whose gradient is wanted.
template <Side kOwn, Sums kSums, Tables kMade, int kGroups, class T, int D, class Scores>
__global__ void __launch_bounds__(kBlock, kBackwardBlocks<D, Scores>)
    attention_backward_kernel(Problem<T> p, BackwardArguments<T> args) {
  constexpr bool kOwnsKeys = kOwn == Side::keys, kIsPlain = !Scores::kIsGeneral;
  constexpr bool kMakesDx = kSums != Sums::dv, kMakesDv = kOwnsKeys && kSums != Sums::dx;
  constexpr bool kMakesTables = kMade != Tables::none;
  static_assert(!kMakesTables || (kOwnsKeys && kMakesDx));
  using S = BackwardSizes<kOwn, T, D, Scores, kGroups, kMade>;
  using Shared = BackwardShared<kOwn, T, D, Scores, S>;
  using Far = BackwardFar<T, D, S>;
  constexpr int kTileRows = S::kOwn, kLoop = S::kLoop, kPieces = kLoop / 8;
  auto* const bytes = dynamic_shared<unsigned char>();
  auto& shared = *reinterpret_cast<Shared*>(bytes);
  const auto after = [&](BackwardParts parts) {
    return bytes + shared_bytes<kOwn, T, D, Scores, S>(parts);
  };
  const bool has_copies = Scores::kIsGeneral && p.far_q;
  auto& far = *reinterpret_cast<Far*>(after({false, 0, false}));
  using TableSums = BackwardTables<T, D, Scores, kGroups, kMade>;
  auto& tables = *reinterpret_cast<typename TableSums::Shared*>(after({has_copies, 0, false}));
  auto& segments = *reinterpret_cast<SegmentShared<S>*>(after({has_copies, 0, false}));

  const int in_warp = static_cast<int>(threadIdx.x) % kWarp;
  const Lane lane{S::first_row(), S::first_column(), S::first_row() + in_warp / 4, in_warp % 4 * 2};
  const auto slot = static_cast<int>(blockIdx.x), h = static_cast<int>(blockIdx.y);
  const int n_own = kOwnsKeys ? p.n_key : p.n_query;
  TableSums dtables;
  if constexpr (kMakesTables)
    if (args.tables.any()) TableSums::clear(tables);

  for (int round = 0; round < args.order.n_round(); ++round) {
    const auto [tile, batch] = args.order.at(slot, round);
    if (tile < 0) continue;
    const Head head{batch, h};
    // Tiles with the most work come first.
    const int own = (kOwnsKeys ? tile : args.order.n_tiles() - 1 - tile) * kTileRows;
    const auto same_head = [&] { return Head{computed_anew(head.batch), h}; };
    const auto queries = [&](const T* x, int i) {
      return p.rows(x, p.rows_of(same_head(), p.n_query), i);
    };
    const auto keys = [&](const T* x, int n) {
      return p.rows(x, p.template key_rows_of<Scores>(same_head()), n);
    };
    const auto tokens = [&](const T* x, int i) {
      return p.rows(x, p.token_rows_of(same_head()), i);
    };

    const auto row_values = [&](int i) {
      return args.rows + (static_cast<int64_t>(p.index_of(same_head())) * args.n_row + i);
    };

    __syncthreads();  // all are done with the last item
    if constexpr (kOwnsKeys) {
      load_tile<kIsPlain>(shared.own_x, keys(p.k, own));
      if constexpr (kMakesDx) load_tile<kIsPlain>(shared.own_y, keys(p.v, own));
      if (has_copies) load_tile(far.own, keys(p.far_k, own));
      dtables.start();
    } else {
      load_tile<kIsPlain>(shared.own_x, queries(p.q, own));
      load_tile<kIsPlain>(shared.own_y, tokens(args.dout, own));
      if (has_copies) load_tile(far.own, queries(p.far_q, own));
      load_rows<kIsPlain>(shared.rows[0], row_values(own));
    }
    Scores scores(p, head);
    SegmentWalk<S> walk(p.row_bias, args.segments, head, own, p.n_query, p.n_batch);
    [[maybe_unused]] WarpSegmentSums<S> row_bias_sums(p.row_bias, args.segments, shared.rows[0],
                                                      lane.row);
    [[maybe_unused]] float dx[kGroups][kMakesDx ? S::kColumns / 8 : 1][4] = {};
    [[maybe_unused]] float dv[kGroups][kMakesDv ? S::kColumns / 8 : 1][4] = {};
    const auto tiles_of = [&p](int first) {
      return kOwnsKeys ? p.template query_tiles<kTileRows, kLoop>(first)
                       : p.template key_tiles<kTileRows, kLoop>(first);
    };
    const TileList tiles = tiles_of(own);
    const auto of_x = [&](int i) { return kOwnsKeys ? queries(p.q, i) : keys(p.k, i); };
    const auto of_y = [&](int i) { return kOwnsKeys ? tokens(args.dout, i) : keys(p.v, i); };
    // It takes registers, which sums of features and of a bias by 32 rows a warp have.
    constexpr bool kHasLoader =
        kIsPlain &&
        !(kOwnsKeys && (Scores::kAddsRowBias || (kGroups > 1 && kMade == Tables::bias)));
    [[maybe_unused]] const TileLoader<T, D> loader(of_x(0), of_y(0));
    const auto load_loop = [&](int t, int stage) {
      const int loop = tiles.at(t) * kLoop;
      scores.load(shared.scores[stage], kOwnsKeys ? loop : own, kOwnsKeys ? kLoop : kTileRows,
                  kOwnsKeys ? own : loop, kOwnsKeys ? kTileRows : kLoop);
      if (kHasLoader && args.is_aligned) {
        const int x_stride = p.row_step * p.head_dim;
        loader.load(shared.loop_x[stage], x_stride, shared.loop_y[stage],
                    kOwnsKeys ? p.n_head * p.head_dim : x_stride, loop);
      } else {
        load_tile<kIsPlain>(shared.loop_x[stage], of_x(loop));
        load_tile<kIsPlain>(shared.loop_y[stage], of_y(loop));
      }
      if constexpr (kOwnsKeys) load_rows<kIsPlain>(shared.rows[stage], row_values(loop));
    };
    if (kIsPlain && tiles.count() > 0) load_loop(0, 0);
    // Over queries there are registers for factors.
    constexpr bool kKeepsX = kGroups > 1 && !kOwnsKeys, kKeepsY = kKeepsX && !Scores::kAddsRowBias;
    auto own_x = own_factors<kKeepsX, kGroups>(shared.own_x, lane.first);
    [[maybe_unused]] auto own_y = own_factors<kKeepsY, kGroups>(shared.own_y, lane.first);
    if constexpr (kKeepsX) {
      wait_for_copies();
      __syncthreads();
      own_x.keep();
      own_y.keep();
    }
    for (int t = 0; t < tiles.count(); ++t) {
      const int loop = tiles.at(t) * kLoop, stage = kIsPlain ? t % 2 : 0;
      const int query = kOwnsKeys ? loop : own, key = kOwnsKeys ? own : loop;
      scores.start_tile(shared.scores[stage], query, kOwnsKeys ? kLoop : kTileRows, key,
                        kOwnsKeys ? kTileRows : kLoop);
      bool has_near = true, has_far = false;
      if constexpr (kIsPlain) {
        wait_for_copies();
        __syncthreads();  // this tile is there for all, and all have read the one before
        if (t + 1 < tiles.count()) load_loop(t + 1, 1 - stage);
      } else {
        has_near = scores.has_near();
        has_far = scores.has_far();
        __syncthreads();  // all have read the tile before
        if (args.is_far && !has_far) continue;
        load_loop(t, 0);
        if (has_far) load_tile(far.loop, kOwnsKeys ? queries(p.far_q, loop) : keys(p.far_k, loop));
        __syncthreads();
      }

      // Warps all of whose pairs are hidden have nothing to add, but wait with the others.
      bool sees = true;
      if constexpr (kIsPlain)
        sees = kOwnsKeys ? scores.start_part(0, kLoop, lane.first, S::kPartRows)
                         : scores.start_part(lane.first, S::kPartRows, 0, kLoop);
      [[maybe_unused]] TableParts<S> parts;
      if (sees) {
        const auto& rows = shared.rows[kOwnsKeys ? stage : 0];
        if constexpr (Scores::kAddsRowBias) start_segments<kOwnsKeys, S>(scores, rows, lane);
        float s[kGroups][kPieces][4] = {};
        multiply<kOwnsKeys, D>(scores, own_x, shared, far, stage, has_near, has_far, lane, s);
        [[maybe_unused]] float by_feature[kGroups][kPieces][4];
        if constexpr (Scores::kAddsRowBias)
          add_row_bias<kOwnsKeys>(scores, rows, lane, s, by_feature);
        [[maybe_unused]] float dp[kGroups][kPieces][4] = {};  // dot products of dout and v
        if constexpr (kMakesDx) multiply_by_rows<kOwnsKeys, D>(dp, own_y, shared.loop_y[stage], 0);
        Factors<T, kGroups, kPieces> weights, gradients;
        take_gradients<kOwn, kMakesDx, kMade>(
            p, args, scores, rows,
            TilePairs<T, S, kGroups, kPieces>{query, key, lane, has_copies, by_feature, s, dp,
                                              weights, gradients, parts, &segments});
        if constexpr (!kOwnsKeys && Scores::kAddsRowBias)
          if (args.segments && lane.first_column == 0)
            row_bias_sums.add_part(s, scores, lane.column);
        // The matrix instructions need the lanes together; general scores go ways of their own.
        if constexpr (Scores::kIsGeneral) __syncwarp();
        if constexpr (kMakesTables)
          TableSums::put(parts, args.tables, tables, static_cast<int>(threadIdx.x));
        if constexpr (kMakesDv)
          if (args.dv)
            add_weighted_rows<S::kColumns>(dv, weights, shared.loop_y[stage], lane.first_column);
        if constexpr (kMakesDx) {
          if (Scores::kIsGeneral && args.is_far)
            add_weighted_rows<S::kColumns>(dx, gradients, far.loop, lane.first_column);
          else
            add_weighted_rows<S::kColumns>(dx, gradients, shared.loop_x[stage], lane.first_column);
        }
      } else if constexpr (kMakesTables) {
        TableSums::put(parts, args.tables, tables, static_cast<int>(threadIdx.x));
      }
      if constexpr (kMakesTables) {
        dtables.add(parts, p.first_position() + query - key, args.tables, p.n_key, tables);
      } else if (!kOwnsKeys && Scores::kIsGeneral && args.segments) {
        __syncthreads();
        walk.add_tile(segments, p.first_position() + query - key);
      }
    }

    if constexpr (kMakesTables) {
      const TileList walked = tiles_of(computed_anew(own));
      if (walked.count() > 0)
        dtables.finish(p.first_position() + walked.at(walked.count() - 1) * kLoop - own,
                       args.tables, p.n_key);
    }
    if (!kOwnsKeys && Scores::kIsGeneral && args.segments)
      walk.finish(args.segments, p.index_of(same_head()), own, p.n_query);
    if constexpr (!kOwnsKeys && Scores::kAddsRowBias)
      if (args.segments && lane.first_column == 0)
        row_bias_sums.finish(p.index_of(head), own, p.n_query);
    // Through the warp's own part of the tiles, whose rows only it reads, or warps beside it too.
    if (S::kRowWarps < kWarps || tiles.count() == 0) {
      wait_for_copies();
      __syncthreads();
    }
    const auto put = [&](const auto& sums, auto& to, const auto& factor) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        const int row = g * kWarpRows;
        put_sums<S::kColumns>(sums[g], factor(row), factor(row + 8), to, lane.first + row,
                              lane.first_column);
      }
    };
    if constexpr (S::kScalesSums)
      put(dx, shared.own_x, [&](int row) { return shared.rows[0][lane.row + row].factor; });
    else if constexpr (kMakesDx)
      put(dx, shared.own_x, [](int) { return 1.0f; });
    if constexpr (kMakesDv)
      if (args.dv) put(dv, shared.own_y, [](int) { return 1.0f; });
    __syncwarp();
    const Head stored = same_head();
    const int first_row = Scores::kIsGeneral ? computed_anew(own) : own;  // a register less
    const auto store = [&](Part part, const auto& gradients, T* to) {
      store_gradients<S>(p, args, part, stored, first_row, n_own, lane, gradients, to);
    };
    if constexpr (kMakesDx) {
      if (args.turned_by.half > 0) {
        // Pairs may lie in columns of two warps.
        const auto wait = [] { S::kRowWarps < kWarps ? __syncthreads() : __syncwarp(); };
        wait();
        turn_back<S>(shared.own_x, lane.first, p.rows(args.dx, p.rows_of(stored, n_own), own),
                     args.turned_by, args.turned_by.row(stored.batch, own));
        wait();
      }
      store(kOwnsKeys ? Part::k : Part::q, shared.own_x, args.dx);
    }
    if constexpr (kMakesDv)
      if (args.dv) store(Part::v, shared.own_y, args.dv);
  }
}

template <Tables kMade>
using Made = std::integral_constant<Tables, kMade>;

/// f(std::integral_constant<Tables, kMade>()) for the kernel that makes these gradients.
template <Side kOwn, Sums kSums, class Scores, class T, class F>
void dispatch_made(const Problem<T>& p, const TableSlices& tables, const F& f) {
  if constexpr (kOwn != Side::keys || kSums == Sums::dv)
    f(Made<Tables::none>());
  else if constexpr (Scores::kIsGeneral)  // which are not worth a kernel without
    f(Made<Tables::unknown>());
  else if constexpr (Scores::kAddsRowBias)
    f(Made<Tables::feature>());
  else if (!tables.any())
    f(Made<Tables::none>());
  else if (p.bias && p.weight)
    f(Made<Tables::both>());
  else if (p.bias)
    f(Made<Tables::bias>());
  else
    f(Made<Tables::weight>());
}

/// Of heads of up to D elements.
template <Side kOwn, int D, int kGroups, class Scores, class T>
void run_backward_kernels(Cuda device, const Problem<T>& p, const BackwardArguments<T>& args) {
  const dim3 grid(static_cast<unsigned>(args.order.n_slot()), static_cast<unsigned>(p.n_head));
  constexpr bool kOwnsKeys = kOwn == Side::keys;
  const auto pass = [&](auto sums) {
    const bool has_tables = sums() != Sums::dv && args.tables.any();
    const auto run = [&](auto made) {
      using S = BackwardSizes<kOwn, T, D, Scores, kGroups, made()>;
      using TableSums = BackwardTables<T, D, Scores, kGroups, made()>;
      constexpr int kDiagonals = made() == Tables::none ? 0 : TableSums::kRegions;
      constexpr auto bytes = &shared_bytes<kOwn, T, D, Scores, S>;
      static_assert(bytes({false, kDiagonals, !kOwnsKeys}) <=
                    (sizeof(T) * D <= 512 ? kSmallShared : kLargeShared));
      static_assert(bytes({true, kDiagonals, !kOwnsKeys}) <= kLargeShared);
      launch(attention_backward_kernel<kOwn, sums(), made(), kGroups, T, D, Scores>, grid, kBlock,
             bytes({p.far_q != nullptr, has_tables ? kDiagonals : 0,
                    Scores::kIsGeneral && args.segments}),
             stream_of(device), p, args);
    };
    dispatch_made<kOwn, sums(), Scores>(p, args.tables, run);
  };
  if constexpr (kIsSplit<kOwn, T, D, Scores>) {
    if (args.dv) pass(std::integral_constant<Sums, Sums::dv>());
    pass(std::integral_constant<Sums, Sums::dx>());
  } else {
    pass(std::integral_constant<Sums, Sums::all>());
  }
}

/// Each instance is compiled in a file of its own: all together take minutes.
template <Side kOwn, class T, class Scores>
void run_backward(Cuda device, const Problem<T>& p, const BackwardArguments<T>& args) {
  dispatch_head_dim(p.head_dim, [&](auto size) {
    dispatch_groups<size(), Scores>(device, [&](auto groups) {
      run_backward_kernels<kOwn, size(), groups(), Scores>(device, p, args);
    });
  });
}
extern template void run_backward<Side::keys, BFloat16, PlainScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::queries, BFloat16, PlainScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::keys, BFloat16, RowBiasScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::queries, BFloat16, RowBiasScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::keys, BFloat16, GeneralScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::queries, BFloat16, GeneralScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::keys, float, GeneralScores<float>>(
    Cuda, const Problem<float>&, const BackwardArguments<float>&);
extern template void run_backward<Side::queries, float, GeneralScores<float>>(
    Cuda, const Problem<float>&, const BackwardArguments<float>&);
extern template void run_backward<Side::keys, BFloat16, DroppingScores<PlainScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::queries, BFloat16, DroppingScores<PlainScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::keys, BFloat16, DroppingScores<GeneralScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::queries, BFloat16, DroppingScores<GeneralScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const BackwardArguments<BFloat16>&);
extern template void run_backward<Side::keys, float, DroppingScores<GeneralScores<float>>>(
    Cuda, const Problem<float>&, const BackwardArguments<float>&);
extern template void run_backward<Side::queries, float, DroppingScores<GeneralScores<float>>>(
    Cuda, const Problem<float>&, const BackwardArguments<float>&);

}  // namespace farfield::attention_cuda
