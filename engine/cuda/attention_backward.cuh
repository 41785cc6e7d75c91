#pragma once
// The backward pass. A block owns a tile of keys and walks the queries that see them, for dk, dv
// and the tables, or owns a tile of queries and walks the keys that these see, for dq: the same
// work with rows and columns exchanged. Scores are computed again from the rows' sums, as in
// FlashAttention (Dao et al. 2022, arXiv:2205.14135).

#include "engine/cuda/attention_row_bias_sums.cuh"
#include "engine/cuda/attention_table_gradients.cuh"
#include "engine/cuda/attention_turn_back.cuh"
#include "engine/cuda/context.h"

namespace farfield::attention_cuda {

enum class Side { keys, queries };

/// The sums that a pass makes: all of its side, or dx and the tables alone, or dv alone.
enum class Sums { all, dx, dv };

/// Whether a thread has no registers for dk and dv at once: then each has a pass.
template <Side kOwn, class T, int D, class Scores>
inline constexpr bool kIsSplit = (kOwn == Side::keys) &&
                                 (sizeof(T) * D >= (Scores::kDrops ? 512 : 513));

/// What the passes read besides the problem, and what they write.
template <class T>
struct BackwardArguments {
  const T* dout;
  const Row* rows;  ///< [B * H, n_row]
  int n_row;        ///< n_query in whole tiles

  T *dx = nullptr, *dv = nullptr;  ///< dx: dk or dq; dv null: not now
  bool is_aligned = false;         ///< whether 16 bytes of q, k, v and dout may be moved at once
  bool is_far = false;             ///< dx is that of the far copies
  Angles turned_by = {};           ///< dx is of heads before they were turned by these

  int n_slot = 0;  ///< blocks of each head h; slot s of n walks items s, 2n - 1 - s, 2n + s, ...
  TableSlices tables = {};
  SegmentSums segments = {};
};

template <class T, int D>
struct BackwardFar {
  using S = Sizes<T, D, true>;
  Tile<T, D, S::kOwn> own;
  Tile<T, D, S::kLoop> loop;
};

template <Side kOwn, class T, int D, class Scores>
struct BackwardShared {
  using S = Sizes<T, D, Scores::kIsGeneral>;
  static constexpr int kStages = Scores::kIsGeneral ? 1 : 2;  // while one is read, one is loaded
  Tile<T, D, S::kOwn> own_x, own_y;                           // k and v, or q and dout
  Tile<T, D, S::kLoop> loop_x[kStages], loop_y[kStages];      // q and dout, or k and v
  Row rows[kOwn == Side::keys ? kStages : 1][kOwn == Side::keys ? S::kLoop : S::kOwn];
  typename Scores::Shared scores[kStages];
};

/// Dynamic shared memory: BackwardShared, then what is needed of these, in this order.
struct BackwardParts {
  bool has_far, has_tables, has_segments;
};
template <Side kOwn, class T, int D, class Scores>
FARFIELD_HD constexpr size_t shared_bytes(const BackwardParts& parts) {
  return sizeof(BackwardShared<kOwn, T, D, Scores>) +
         (parts.has_far ? sizeof(BackwardFar<T, D>) : 0) +
         (parts.has_tables ? sizeof(DiagonalShared<Sizes<T, D, Scores::kIsGeneral>>) : 0) +
         (parts.has_segments ? sizeof(SegmentShared<Sizes<T, D, Scores::kIsGeneral>>) : 0);
}

/// Rows of queries, by all threads.
template <bool kIsAsync, int kN>
__device__ void load_rows(Row (&rows)[kN], const Row* from) {
  const auto x = static_cast<int>(threadIdx.x);
  if (x >= kN) return;
  if constexpr (kIsAsync)
    copy_async<16>(&rows[x], from + x, true);
  else
    rows[x] = from[x];
}

/// Where a thread is in a tile: the first row and column of its warp's sums, and its own first row
/// and column of pairs.
struct Lane {
  int first, first_column, row, column;
};

/// s: dot products of q and k, of far pairs those of their copies.
template <bool kOwnsKeys, class T, int D, class Scores, int kPieces>
__device__ void multiply(
    const Scores& scores,
    BackwardShared<kOwnsKeys ? Side::keys : Side::queries, T, D, Scores>& shared,
    BackwardFar<T, D>& far, int stage, bool has_near, bool has_far, const Lane& lane,
    float (&s)[1][kPieces][4]) {
  if (has_near)
    multiply_by_rows<kOwnsKeys, D>(
        s, [&](int, int k) { return load_left(shared.own_x, lane.first, k); }, shared.loop_x[stage],
        0);
  if constexpr (Scores::kIsGeneral)
    if (has_far) {
      float other[1][kPieces][4] = {};
      multiply_by_rows<kOwnsKeys, D>(
          other, [&](int, int k) { return load_left(far.own, lane.first, k); }, far.loop, 0);
      take_far<kOwnsKeys>(scores, s[0], other[0], lane.row, lane.column);
    }
}

/// s: dot products to scores of RowBiasScores, and by_feature: what of a score's gradient is that
/// of the feature.
template <bool kOwnsKeys, class S, class Scores, int kRows, int kPieces>
__device__ void add_row_bias(Scores& scores, const Row (&rows)[kRows], const Lane& lane,
                             float (&s)[1][kPieces][4], float (&by_feature)[kPieces][4]) {
  const int in_warp = static_cast<int>(threadIdx.x) % kWarp;
  const float factor[1] = {
      rows[kOwnsKeys ? in_warp % S::kLoop : lane.first + in_warp % kWarpRows].row_factor()};
  scores.template start_part<kOwnsKeys, kPieces>(lane.first, kWarpRows,
                                                 RowFactors::of_warp(factor));
  scores.template add_row_bias<kOwnsKeys>(
      s, lane.row, lane.column,
      [&](int, int n, int x) {
        const Row& row = rows[kOwnsKeys ? lane.column + 8 * n + x % 2 : lane.row + x / 2 * 8];
        return QueryFactors{row.factor, row.row_factor()};
      },
      [&](int, int n, int x, float by) { by_feature[n][x] = by; });
}

/// s: scores to probabilities; dp: to gradients of the dot products, and with them what the tables
/// get. Of a tile from `query` and `key` on, with the rows of its queries. With kAddsRowBias s
/// holds scores already, and by_feature is that of add_row_bias(); over queries s becomes the
/// gradients of the scores, for WarpSegmentSums.
template <Side kOwn, bool kMakesDx, Tables kMade, class T, class Scores, class S, int kRows,
          int kPieces>
__device__ void take_gradients(const Problem<T>& p, const BackwardArguments<T>& args,
                               Scores& scores, const Row (&rows)[kRows], int query, int key,
                               const Lane& lane, bool has_copies,
                               [[maybe_unused]] const float (&by_feature)[kPieces][4],
                               float (&s)[kPieces][4], [[maybe_unused]] float (&dp)[kPieces][4],
                               [[maybe_unused]] TableParts<S>& parts, SegmentShared<S>& segments) {
  constexpr bool kOwnsKeys = kOwn == Side::keys, kMakesTables = kMade != Tables::none;
  constexpr Tables kRead = kMakesTables ? kMade : Tables::asked;
  scores.template for_tile<kRead>([&](auto&& score_of) {
    // Pieces whose pairs go side by side, as far as registers hold what they need.
    using ScoreOf = std::remove_cvref_t<decltype(score_of)>;
    constexpr int kAtOnce = Scores::kIsGeneral ? 1
                            : !kOwnsKeys       ? kPieces
                            : ScoreOf::kIsLean ? 2
                                               : 1;
#pragma unroll
    for (int first = 0; first < kPieces; first += kAtOnce) {
      // f(n, x, its piece, its query and key in the tile) for element x of piece n of these.
      const auto for_pairs = [&](auto&& f) {
#pragma unroll
        for (int n = 0; n < kAtOnce; ++n)
#pragma unroll
          for (int x = 0; x < 4; ++x) {
            const int r = lane.row + x / 2 * 8, c = lane.column + 8 * (first + n) + x % 2;
            f(n, x, first + n, kOwnsKeys ? c : r, kOwnsKeys ? r : c);
          }
      };
      Score score[kAtOnce][4];
      float p_of[1][kAtOnce][4];
      for_pairs([&](int n, int x, int piece, int i, int j) {
        const Row of_query = rows[i];
        score[n][x] = score_of(s[piece][x], of_query.factor, i, j);
        p_of[0][n][x] =
            probability<Scores>(p, score[n][x].value, of_query.shift, of_query.threshold);
      });
      if constexpr (!Scores::kIsGeneral)
        scores.template hide<kOwnsKeys>(p_of, lane.row, lane.column + 8 * first, 0);
      for_pairs([&](int n, int x, int piece, int i, int j) {
        [[maybe_unused]] const Row of_query = rows[i];
        s[piece][x] = p_of[0][n][x];
        [[maybe_unused]] float& dot = dp[piece][x];
        if constexpr (Scores::kDrops) {
          const float kept = scores.kept(i, j);
          s[piece][x] *= kept;
          if constexpr (kMakesDx) dot *= kept;
        }
        if constexpr (kMakesDx) {
          const float ds =
              score_gradient<Scores>(p, score[n][x].value, p_of[0][n][x], dot, of_query);
          dot = ds * score[n][x].weight * of_query.factor;
          if constexpr (kMakesTables) {
            if (has<kMade, Tables::bias>(args.tables.bias)) parts.bias.add(piece, x, ds);
            if (has<kMade, Tables::weight>(args.tables.weight))
              parts.weight.add_product(piece, x, ds, score[n][x].content);
          }
          if constexpr (Scores::kAddsRowBias && kMakesTables)
            if (args.tables.feature) parts.feature.add_product(piece, x, ds, by_feature[piece][x]);
          if constexpr (Scores::kAddsRowBias && !kOwnsKeys) s[piece][x] = ds;
          if constexpr (Scores::kIsGeneral) {
            if (has_copies && scores.is_far(i, j) != args.is_far) dot = 0;
            if constexpr (kOwnsKeys) {
              if (args.tables.feature && p.sees(query + i, key + j))
                parts.feature.add_product(piece, x, ds,
                                          scores.slope(i, j) * p.row_bias.row_factor[query + i]);
            } else if (args.segments && lane.first_column == 0) {
              segments.ds[i][j] = ds;
            }
          }
        }
      });
    }
  });
}

/// kMade: tables by distance whose gradients it makes: none; those named, which are all that there
/// are; or, unknown, those that are wanted.
template <Side kOwn, Sums kSums, Tables kMade, class T, int D, class Scores>
__global__ void __launch_bounds__(kBlock, kBlocks<D, Scores>)
    attention_backward_kernel(Problem<T> p, BackwardArguments<T> args) {
  constexpr bool kOwnsKeys = kOwn == Side::keys, kIsPlain = !Scores::kIsGeneral;
  constexpr bool kMakesDx = kSums != Sums::dv, kMakesDv = kOwnsKeys && kSums != Sums::dx;
  constexpr bool kMakesTables = kMade != Tables::none;
  static_assert(!kMakesTables || (kOwnsKeys && kMakesDx));
  using S = Sizes<T, D, Scores::kIsGeneral>;
  constexpr int kTileRows = S::kOwn, kLoop = S::kLoop, kPieces = kLoop / 8;
  auto* const bytes = dynamic_shared<unsigned char>();
  auto& shared = *reinterpret_cast<BackwardShared<kOwn, T, D, Scores>*>(bytes);
  const auto after = [&](BackwardParts parts) {
    return bytes + shared_bytes<kOwn, T, D, Scores>(parts);
  };
  const bool has_copies = Scores::kIsGeneral && p.far_q;
  auto& far = *reinterpret_cast<BackwardFar<T, D>*>(after({false, false, false}));
  auto& tables = *reinterpret_cast<DiagonalShared<S>*>(after({has_copies, false, false}));
  auto& segments = *reinterpret_cast<SegmentShared<S>*>(after({has_copies, false, false}));

  const int in_warp = static_cast<int>(threadIdx.x) % kWarp;
  const Lane lane{S::first_row(), S::first_column(), S::first_row() + in_warp / 4, in_warp % 4 * 2};
  const auto slot = static_cast<int>(blockIdx.x), h = static_cast<int>(blockIdx.y);
  const int n_own = kOwnsKeys ? p.n_key : p.n_query;
  // Not kept over an item, for want of registers.
  const auto n_tiles = [&] { return (computed_anew(n_own) + kTileRows - 1) / kTileRows; };
  const auto n_items = [&] { return n_tiles() * p.n_batch; };
  TableGradients<S, kMade, Scores::kIsGeneral || Scores::kAddsRowBias> dtables;
  if constexpr (kMakesTables)
    if (args.tables.any()) tables.clear();

  for (int round = 0; round * args.n_slot < n_items(); ++round) {
    const int item = round * args.n_slot + (round % 2 == 0 ? slot : args.n_slot - 1 - slot);
    if (item >= n_items()) continue;
    const Head head{item % p.n_batch, h};
    const int tile = item / p.n_batch;  // those with the most work first
    const int own = (kOwnsKeys ? tile : n_tiles() - 1 - tile) * kTileRows;
    const HeadRows of_query = p.rows_of(head, p.n_query), of_key = p.rows_of(head, p.n_key);
    const HeadRows of_token = p.token_rows_of(head);
    const auto queries = [&](const T* x, int i) { return p.rows(x, of_query, i); };
    const auto keys = [&](const T* x, int n) { return p.rows(x, of_key, n); };

    const auto row_values = [&](int i) {
      return args.rows + (static_cast<int64_t>(p.index_of(head)) * args.n_row + i);
    };

    __syncthreads();  // all are done with the last item
    if constexpr (kOwnsKeys) {
      load_tile<kIsPlain>(shared.own_x, keys(p.k, own));
      if constexpr (kMakesDx) load_tile<kIsPlain>(shared.own_y, keys(p.v, own));
      if (has_copies) load_tile(far.own, keys(p.far_k, own));
      dtables.start();
    } else {
      load_tile<kIsPlain>(shared.own_x, queries(p.q, own));
      load_tile<kIsPlain>(shared.own_y, p.rows(args.dout, of_token, own));
      if (has_copies) load_tile(far.own, queries(p.far_q, own));
      load_rows<kIsPlain>(shared.rows[0], row_values(own));
    }
    Scores scores(p, head);
    SegmentWalk<S> walk(p.row_bias, args.segments, head, own, p.n_query, p.n_batch, p.n_head);
    [[maybe_unused]] WarpSegmentSums<S> row_bias_sums(p.row_bias, args.segments, shared.rows[0],
                                                      lane.row);
    [[maybe_unused]] float dx[1][kMakesDx ? S::kColumns / 8 : 1][4] = {};
    [[maybe_unused]] float dv[1][kMakesDv ? S::kColumns / 8 : 1][4] = {};
    const auto tiles_of = [&p](int first) {
      return kOwnsKeys ? p.template query_tiles<kTileRows, kLoop>(first)
                       : p.template key_tiles<kTileRows, kLoop>(first);
    };
    const TileList tiles = tiles_of(own);
    const auto of_x = [&](int i) { return kOwnsKeys ? queries(p.q, i) : keys(p.k, i); };
    const auto of_y = [&](int i) {
      return kOwnsKeys ? p.rows(args.dout, of_token, i) : keys(p.v, i);
    };
    // It takes registers, which the sums of features have.
    constexpr bool kHasLoader = kIsPlain && !(kOwnsKeys && Scores::kAddsRowBias);
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

      float s[1][kPieces][4] = {};  // of one group of rows
      multiply<kOwnsKeys>(scores, shared, far, stage, has_near, has_far, lane, s);
      [[maybe_unused]] float by_feature[kPieces][4];
      if constexpr (Scores::kAddsRowBias)
        add_row_bias<kOwnsKeys, S>(scores, shared.rows[kOwnsKeys ? stage : 0], lane, s, by_feature);
      [[maybe_unused]] float dp[1][kPieces][4] = {};  // dot products of dout and v
      if constexpr (kMakesDx)
        multiply_by_rows<kOwnsKeys, D>(
            dp, [&](int, int k) { return load_left(shared.own_y, lane.first, k); },
            shared.loop_y[stage], 0);
      [[maybe_unused]] TableParts<S> parts;
      take_gradients<kOwn, kMakesDx, kMade>(p, args, scores, shared.rows[kOwnsKeys ? stage : 0],
                                            query, key, lane, has_copies, by_feature, s[0], dp[0],
                                            parts, segments);
      if constexpr (kMakesTables) {
        dtables.add(parts, p.first_position() + query - key, args.tables, p.n_key, tables);
      } else if (!kOwnsKeys && Scores::kIsGeneral && args.segments) {
        __syncthreads();
        walk.add_tile(segments, p.first_position() + query - key);
      }
      if constexpr (!kOwnsKeys && Scores::kAddsRowBias)
        if (args.segments && lane.first_column == 0)
          row_bias_sums.add_part(s[0], scores, lane.column);
      // The matrix instructions need the lanes together; general scores go ways of their own.
      if constexpr (Scores::kIsGeneral) __syncwarp();

      if constexpr (kMakesDv)
        if (args.dv) add_weighted_rows<S::kColumns>(dv, s, shared.loop_y[stage], lane.first_column);
      if constexpr (kMakesDx) {
        if (Scores::kIsGeneral && args.is_far)
          add_weighted_rows<S::kColumns>(dx, dp, far.loop, lane.first_column);
        else
          add_weighted_rows<S::kColumns>(dx, dp, shared.loop_x[stage], lane.first_column);
      }
    }

    if constexpr (kMakesTables) {
      const TileList walked = tiles_of(computed_anew(own));
      if (walked.count() > 0)
        dtables.finish(p.first_position() + walked.at(walked.count() - 1) * kLoop - own,
                       args.tables, p.n_key);
    }
    if (!kOwnsKeys && Scores::kIsGeneral && args.segments) walk.finish();
    if constexpr (!kOwnsKeys && Scores::kAddsRowBias)
      if (args.segments && lane.first_column == 0)
        row_bias_sums.finish(p.index_of(head), own, p.n_query);
    // Through the warp's own part of the tiles, whose rows only it reads, or warps beside it too.
    if (S::kRowWarps < kWarps || tiles.count() == 0) {
      wait_for_copies();
      __syncthreads();
    }
    if constexpr (kMakesDx)
      put_sums<S::kColumns>(dx[0], 1, 1, shared.own_x, lane.first, lane.first_column);
    if constexpr (kMakesDv)
      if (args.dv) put_sums<S::kColumns>(dv[0], 1, 1, shared.own_y, lane.first, lane.first_column);
    __syncwarp();
    const Head stored{computed_anew(head.batch), h};
    const auto rows_to = [&](T* to) { return p.rows(to, p.rows_of(stored, n_own), own); };
    const auto store = [&](const auto& sums, T* to) {
      store_warp_rows<S::kColumns>(sums, lane.first, lane.first_column, rows_to(to));
    };
    if constexpr (kMakesDx) {
      if (args.turned_by.half == 0) {
        store(shared.own_x, args.dx);
      } else {
        if constexpr (S::kRowWarps < kWarps) __syncthreads();  // pairs lie in columns of two warps
        store_turned_back<S>(shared.own_x, lane.first, rows_to(args.dx), args.turned_by,
                             args.turned_by.row(stored.batch, own));
      }
    }
    if constexpr (kMakesDv)
      if (args.dv) store(shared.own_y, args.dv);
  }
}

template <Tables kMade>
using Made = std::integral_constant<Tables, kMade>;

/// Each instance is compiled in a file of its own: all together take minutes.
template <Side kOwn, class T, class Scores>
void run_backward(Cuda device, const Problem<T>& p, const BackwardArguments<T>& args) {
  dispatch_head_dim(p.head_dim, [&](auto size) {
    const dim3 grid(static_cast<unsigned>(args.n_slot), static_cast<unsigned>(p.n_head));
    constexpr bool kOwnsKeys = kOwn == Side::keys;
    static_assert(shared_bytes<kOwn, T, size(), Scores>({false, kOwnsKeys, !kOwnsKeys}) <=
                  (sizeof(T) * size() <= 512 ? kSmallShared : kLargeShared));
    static_assert(shared_bytes<kOwn, T, size(), Scores>({true, kOwnsKeys, !kOwnsKeys}) <=
                  kLargeShared);
    const auto pass = [&](auto sums) {
      const bool has_tables = sums() != Sums::dv && args.tables.any();
      const BackwardParts parts{p.far_q != nullptr, has_tables,
                                Scores::kIsGeneral && args.segments};
      const auto run = [&](auto tables) {
        launch(attention_backward_kernel<kOwn, sums(), tables(), T, size(), Scores>, grid, kBlock,
               shared_bytes<kOwn, T, size(), Scores>(parts), stream_of(device), p, args);
      };
      if constexpr (!kOwnsKeys || sums() == Sums::dv)
        run(Made<Tables::none>());
      else if constexpr (Scores::kIsGeneral)  // which are not worth a kernel without
        run(Made<Tables::unknown>());
      else if constexpr (Scores::kAddsRowBias)
        run(Made<Tables::feature>());
      else if (!has_tables)
        run(Made<Tables::none>());
      else if (args.tables.bias && args.tables.weight)
        run(Made<Tables::both>());
      else if (args.tables.bias && !p.weight)
        run(Made<Tables::bias>());
      else
        run(Made<Tables::unknown>());
    };
    if constexpr (kIsSplit<kOwn, T, size(), Scores>) {
      if (args.dv) pass(std::integral_constant<Sums, Sums::dv>());
      pass(std::integral_constant<Sums, Sums::dx>());
    } else {
      pass(std::integral_constant<Sums, Sums::all>());
    }
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
