#pragma once
// What a block of the backward pass does with one tile: dot products to scores, to probabilities,
// to gradients.

#include "engine/cuda/attention_row_bias_sums.cuh"
#include "engine/cuda/attention_table_gradients.cuh"
#include "engine/cuda/turn.cuh"

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

}  // namespace farfield::attention_cuda
