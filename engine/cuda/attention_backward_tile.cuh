#pragma once
// One tile in a block of the backward pass: from dot products to scores, to probabilities, to
// gradients.

#include "engine/cuda/attention_products.cuh"
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

/// Inputs of the passes besides the problem, and their outputs.
template <class T>
struct BackwardArguments {
  const T* dout;
  const Row* rows = nullptr;         ///< [B * H, n_row]; null: the kernels take their ends
  const RowEnd* row_ends = nullptr;  ///< null: they take the rows
  int n_row;                         ///< n_query in whole tiles

  T *dx = nullptr, *dv = nullptr;  ///< dx: dk or dq; dv null: not now
  bool is_aligned = false;         ///< whether 16 bytes of q, k, v and dout may be moved at once
  bool is_far = false;             ///< dx is the gradient of the far copies
  Angles turned_by = {};  ///< dx is the gradient of heads before they were rotated by these angles
  /// Of gradients of packed heads, the sums over the rows of each warp of each tile: [tiles of all
  /// sequences, warps that share the rows of one, H, 3, K]. null: not wanted.
  float* column_sums = nullptr;

  SlotOrder order = {};  ///< of the blocks of a head, and the tiles of all sequences
  TableSlices tables = {};
  SegmentSums segments = {};
};

/// Groups of rows of a warp at most: two where a thread has the registers.
template <int D, class Scores>
inline constexpr int kMostGroups = !Scores::kIsGeneral && !Scores::kDrops && D <= 64 ? 2 : 1;

/// Rows of the tiles that a block owns and of the tiles that it walks over, in a kernel that makes
/// the gradients of these tables.
template <Side kOwnSide, class T, int D, class Scores, int kGroups, Tables kMade = Tables::none>
struct BackwardSizes : WarpSizes<D, kGroups> {
  // As WarpgroupBackwardSizes has these two.
  static constexpr bool kScalesSums = kOwnSide == Side::queries && std::is_same_v<T, BFloat16>;
  static constexpr int kStripsAtOnce = kMade == Tables::both ? 4 : 1;
  static constexpr bool kIsShort = kRowBytes<T, D> > 256 || (Scores::kIsGeneral && D >= 128) ||
                                   (kGroups > 1 && D == 64 &&
                                    (has_weight(kMade) || kMade == Tables::feature));
  static constexpr int kLoop = kIsShort ? 16 : 32;
};

/// The gradients that a kernel makes of tables. Where a device has little shared memory it leaves
/// room for a second block.
template <class T, int D, class Scores, int kGroups, Tables kMade>
using BackwardTables =
    TableGradients<BackwardSizes<Side::keys, T, D, Scores, kGroups, kMade>, kMade,
                   kMade == Tables::unknown ||
                       (kMade == Tables::both && kGroups < kMostGroups<D, Scores>)>;

template <class T, int D, class S>
struct BackwardFar {
  Tile<T, D, S::kOwn> own;
  Tile<T, D, S::kLoop> loop;
};

template <Side kOwn, class T, int D, class Scores, class S>
struct BackwardShared {
  static constexpr int kStages = Scores::kIsGeneral ? 1 : 2;  // while one is read, one is loaded
  Tile<T, D, S::kOwn> own_x, own_y;                           // k and v, or q and dout
  Tile<T, D, S::kLoop> loop_x[kStages], loop_y[kStages];      // q and dout, or k and v
  Row rows[kOwn == Side::keys ? kStages : 1][kOwn == Side::keys ? S::kLoop : S::kOwn];
  typename Scores::Shared scores[kStages];
};

/// Dynamic shared memory: BackwardShared, then the needed ones of these, in this order.
struct BackwardParts {
  bool has_far;
  int n_diagonals;  ///< DiagonalShared
  bool has_segments;
};
template <Side kOwn, class T, int D, class Scores, class S>
FARFIELD_HD constexpr size_t shared_bytes(const BackwardParts& parts) {
  return sizeof(BackwardShared<kOwn, T, D, Scores, S>) +
         (parts.has_far ? sizeof(BackwardFar<T, D, S>) : 0) +
         parts.n_diagonals * sizeof(DiagonalShared<S>) +
         (parts.has_segments ? sizeof(SegmentShared<S>) : 0);
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

/// s: dot products of q and k; for far pairs, of their far copies.
template <bool kOwnsKeys, int D, class Scores, class Own, class Shared, class Far, int kGroups,
          int kPieces>
__device__ void multiply(const Scores& scores, const Own& own, const Shared& shared, const Far& far,
                         int stage, bool has_near, bool has_far, const Lane& lane,
                         float (&s)[kGroups][kPieces][4]) {
  if (has_near) multiply_by_rows<kOwnsKeys, D>(s, own, shared.loop_x[stage], 0);
  if constexpr (Scores::kIsGeneral)
    if (has_far) {
      float other[1][kPieces][4] = {};
      multiply_by_rows<kOwnsKeys, D>(other, own_factors<false, 1>(far.own, lane.first), far.loop,
                                     0);
      take_far<kOwnsKeys>(scores, s[0], other[0], lane.row, lane.column);
    }
}

/// Has RowBiasScores find the segments of a warp's part of a tile, with the rows of its queries.
template <bool kOwnsKeys, class S, class Scores, class Rows>
__device__ void start_segments(Scores& scores, const Rows& rows, const Lane& lane) {
  const int in_warp = static_cast<int>(threadIdx.x) % kWarp;
  constexpr int kQueries = kOwnsKeys ? S::kLoop : S::kPartRows;
  float factors[(kQueries + kWarp - 1) / kWarp];
#pragma unroll
  for (int x = 0; x < kQueries; x += kWarp)
    factors[x / kWarp] = rows[(kOwnsKeys ? x : lane.first) + in_warp % kQueries].row_factor();
  scores.template start_segments<kOwnsKeys, S::kLoop / 8>(lane.first, S::kPartRows,
                                                          RowFactors::of_warp(factors));
}

/// s: dot products to scores of RowBiasScores, after start_segments(), and by_feature: the part of
/// a score's gradient that belongs to the feature.
template <bool kOwnsKeys, class Scores, class Rows, int kGroups, int kPieces>
__device__ void add_row_bias(const Scores& scores, const Rows& rows, const Lane& lane,
                             float (&s)[kGroups][kPieces][4],
                             float (&by_feature)[kGroups][kPieces][4]) {
  scores.template add_row_bias<kOwnsKeys>(
      s, lane.row, lane.column,
      [&](int g, int n, int x) {
        const Row row =
            rows[kOwnsKeys ? lane.column + 8 * n + x % 2 : lane.row + g * kWarpRows + x / 2 * 8];
        return QueryFactors{row.factor, row.row_factor()};
      },
      [&](int g, int n, int x, float by) { by_feature[g][n][x] = by; });
}

/// A thread's values for its pairs of a tile, from `query` and `key` on, and its results.
template <class T, class S, int kGroups, int kPieces>
struct TilePairs {
  using Values = float[kGroups][kPieces][4];

  int query, key;
  const Lane& lane;
  bool has_copies;           ///< whether near and far pairs have other heads
  const Values& by_feature;  ///< of add_row_bias()
  Values& s;   ///< dot products of q and k, with kAddsRowBias scores; then probabilities
  Values& dp;  ///< dot products of dout and v; then gradients of the dot products of q and k
  Factors<T, kGroups, kPieces>& weights;    ///< the probabilities
  Factors<T, kGroups, kPieces>& gradients;  ///< dp
  TableParts<S>& parts;                     ///< of the gradients of tables
  SegmentShared<S>* segments;               ///< for SegmentWalk
};

/// The probabilities and the gradients of a tile, with the rows of its queries: rows[i] is a Row.
/// With kAddsRowBias, over queries, s becomes the gradients of the scores, for WarpSegmentSums.
template <Side kOwn, bool kMakesDx, Tables kMade, class T, class Scores, class S, class Rows,
          int kGroups, int kPieces>
__device__ void take_gradients(const Problem<T>& p, const BackwardArguments<T>& args,
                               Scores& scores, const Rows& rows,
                               const TilePairs<T, S, kGroups, kPieces>& tile) {
  const Lane& lane = tile.lane;
  auto& s = tile.s;
  [[maybe_unused]] auto& dp = tile.dp;
  constexpr bool kOwnsKeys = kOwn == Side::keys, kMakesTables = kMade != Tables::none;
  constexpr Tables kRead = kMakesTables ? kMade : Tables::asked;
  scores.template for_tile<kRead>([&](auto&& score_of) {
    // Pairs go diagonal by diagonal (DiagonalParts): the pairs of a diagonal share their table
    // entries and their sum. As many diagonals run side by side as the registers hold.
    using ScoreOf = std::remove_cvref_t<decltype(score_of)>;
    constexpr int kHalves = DiagonalParts<S>::kHalves, kDiagonals = DiagonalParts<S>::kCount;
    constexpr int kAtOnce = Scores::kIsGeneral ? 1
                            : !kOwnsKeys       ? kDiagonals
                            : ScoreOf::kIsLean ? 2
                                               : 1;
    constexpr int kParts = kAtOnce * kHalves;
#pragma unroll
    for (int first = 0; first < kDiagonals; first += kAtOnce) {
      // f(part, x, group, piece) for the pairs of these, element x of a piece.
      const auto for_pairs = [&](auto&& f) {
#pragma unroll
        for (int part = 0; part < kParts; ++part) {
          const int half = part % kHalves, diagonal = first + part / kHalves;
          const int piece = diagonal + half - (kHalves - 1);
          if (diagonal >= kDiagonals || piece < 0 || piece >= kPieces) continue;
#pragma unroll
          for (int b = 0; b < 2; ++b) f(part, half % 2 * 2 + b, half / 2, piece);
        }
      };
      // Its row and column from this lane's first ones on.
      const auto row_of = [](int group, int x) { return group * kWarpRows + x / 2 * 8; };
      const auto column_of = [](int piece, int x) { return 8 * piece + x % 2; };
      const auto query_of = [&](int group, int piece, int x) {
        return kOwnsKeys ? lane.column + column_of(piece, x) : lane.row + row_of(group, x);
      };
      const auto key_of = [&](int group, int piece, int x) {
        return kOwnsKeys ? lane.row + row_of(group, x) : lane.column + column_of(piece, x);
      };
      Score score[kParts][2];
      float p_of[kParts][2];
      for_pairs([&](int part, int x, int group, int piece) {
        const int i = query_of(group, piece, x), j = key_of(group, piece, x);
        const Row of_query = rows[i];
        score[part][x % 2] = score_of(s[group][piece][x], of_query.factor, i, j);
        p_of[part][x % 2] =
            probability<Scores, ScoreOf>(p, s[group][piece][x], score[part][x % 2].value, of_query);
      });
      if constexpr (!Scores::kIsGeneral)
        scores.template hide<kOwnsKeys>(lane.row, lane.column, 0, [&](auto&& hide) {
          for_pairs([&](int part, int x, int group, int piece) {
            hide(p_of[part][x % 2], row_of(group, x), column_of(piece, x));
          });
        });
      for_pairs([&](int part, int x, int group, int piece) {
        const int i = query_of(group, piece, x);
        [[maybe_unused]] const int j = key_of(group, piece, x);
        [[maybe_unused]] const Row of_query = rows[i];
        float& of_pair = s[group][piece][x];
        of_pair = p_of[part][x % 2];
        [[maybe_unused]] float& dot = dp[group][piece][x];
        if constexpr (Scores::kDrops) {
          const float kept = scores.kept(i, j);
          of_pair *= kept;
          if constexpr (kMakesDx) dot *= kept;
        }
        if (x % 2 == 1) tile.weights.set_pair(group, piece, x, s[group][piece][x - 1], of_pair);
        if constexpr (kMakesDx) {
          const float ds =
              score_gradient<Scores>(p, score[part][x % 2].value, p_of[part][x % 2], dot, of_query);
          dot = ds * score[part][x % 2].weight;
          if constexpr (!S::kScalesSums) dot *= of_query.factor;
          if constexpr (kMakesTables) {
            if (has<kMade, Tables::bias>(args.tables.bias))
              tile.parts.bias.add(group, piece, x, ds);
            if (has<kMade, Tables::weight>(args.tables.weight))
              tile.parts.weight.add_product(group, piece, x, ds, score[part][x % 2].content);
          }
          if constexpr (Scores::kAddsRowBias && kMakesTables)
            if (args.tables.feature)
              tile.parts.feature.add_product(group, piece, x, ds, tile.by_feature[group][piece][x]);
          if constexpr (Scores::kAddsRowBias && !kOwnsKeys) of_pair = ds;
          if constexpr (Scores::kIsGeneral) {
            if (tile.has_copies && scores.is_far(i, j) != args.is_far) dot = 0;
            if constexpr (kOwnsKeys) {
              const int query = tile.query + i;
              if (args.tables.feature && p.sees(query, tile.key + j))
                tile.parts.feature.add_product(group, piece, x, ds,
                                               scores.slope(i, j) * p.row_bias.row_factor[query]);
            } else if (args.segments && lane.first_column == 0) {
              tile.segments->ds[i][j] = ds;
            }
          }
          if (x % 2 == 1) tile.gradients.set_pair(group, piece, x, dp[group][piece][x - 1], dot);
        }
      });
    }
  });
}

}  // namespace farfield::attention_cuda
