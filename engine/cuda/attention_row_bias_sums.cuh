#pragma once
// Gradients of a bias by distance and query, as sums along the rows of dS.

#include "engine/cuda/attention_normalizer.cuh"

namespace farfield::attention_cuda {

/// Sums over the rows of queries. Each sum belongs to one thread, so there is no race, and the
/// order is fixed.
struct SegmentSums {
  /// [H, n, 2, n_segment], zeros at first: of slope and offset. For RowBiasScores n counts the
  /// blocks of a head, each with its warps of rows; else n counts the rows, B * T.
  float* segments = nullptr;
  float* row_factor = nullptr;  ///< [B * H, T]

  FARFIELD_HD explicit operator bool() const { return segments != nullptr; }
};

/// dS of a tile: kOwn queries by kLoop keys.
template <class S>
struct alignas(16) SegmentShared {
  float ds[S::kOwn][S::kLoop + 1];
};

/// The thread of a row of a block's own queries. Along a row the argument of the piecewise linear
/// function does not rise, so the terms of a segment lie together.
template <class S>
class SegmentWalk {
 public:
  __device__ SegmentWalk(const RowBiasTables& bias, const SegmentSums& to, const Head& head,
                         int query, int n_query, int n_batch)
      : bias_(bias), n_segment_(bias.n_segment()) {
    const int i = query + static_cast<int>(threadIdx.x);
    has_row_ = to.segments && static_cast<int>(threadIdx.x) < S::kOwn && i < n_query;
    if (!has_row_) return;
    const int64_t row = (static_cast<int64_t>(head.h) * n_batch + head.batch) * n_query + i;
    segments_ = to.segments + row * 2 * n_segment_;
    slope_ = bias.slope + int64_t{head.h} * n_segment_;
    row_factor_ = bias.row_factor[i];
  }

  /// Query 0 and key 0 of the tile are at distance `offset`.
  __device__ void add_tile(const SegmentShared<S>& shared, int offset) {
    if (!has_row_) return;
    const auto row = static_cast<int>(threadIdx.x);
    for (int j = 0; j < S::kLoop; ++j) {
      const int d = offset + row - j;
      if (d < 0) break;
      const float x = bias_.feature[d] * row_factor_;
      const int segment = bias_.segment_from(segment_, x);
      if (segment != segment_) flush();
      segment_ = segment;
      sum_ += shared.ds[row][j];
      sum_x_ += shared.ds[row][j] * x;
      sum_row_factor_ += shared.ds[row][j] * slope_[segment] * bias_.feature[d];
    }
  }
  /// head: as one of all sequences.
  __device__ void finish(const SegmentSums& to, int head, int query, int n_query) {
    if (!has_row_) return;
    flush();
    const int i = query + static_cast<int>(threadIdx.x);
    to.row_factor[static_cast<int64_t>(head) * n_query + i] = sum_row_factor_;
  }

 private:
  __device__ void flush() {
    segments_[segment_] += sum_x_;
    segments_[n_segment_ + segment_] += sum_;
    sum_ = sum_x_ = 0;
  }

  const RowBiasTables& bias_;
  int n_segment_, segment_ = 0;
  bool has_row_ = false;
  float* segments_ = nullptr;
  const float* slope_ = nullptr;
  float row_factor_ = 0, sum_ = 0, sum_x_ = 0, sum_row_factor_ = 0;
};

/// The same for a warp's rows, beside RowBiasScores: each lane keeps the sums of two segments,
/// which mostly cover a part of a tile. When a third segment begins, the warp adds up the sums of
/// the older one.
template <class S>
class WarpSegmentSums {
 public:
  /// rows: of the block's own queries. row: the first one of this lane, which has those 8 apart
  /// from it too.
  __device__ WarpSegmentSums(const RowBiasTables& bias, const SegmentSums& to, const Row* rows,
                             int row)
      : bias_(bias), to_(to), rows_(rows), row_(row) {}

  /// ds: gradients of the scores of the warp's part of a tile, of which this lane has columns from
  /// `column` on. By all lanes of a warp.
  template <int kPieces, class Scores>
  __device__ void add_part(const float (&ds)[S::kGroups][kPieces][4], const Scores& scores,
                           int column) {
    const auto feature = [&](int g, int n, int x) {
      return scores.template feature<false>(row_, column, g, n, x);
    };
    // f(g, x) for the pairs of a piece.
    const auto for_pairs = [](const auto& f) {
#pragma unroll
      for (int g = 0; g < S::kGroups; ++g)
#pragma unroll
        for (int x = 0; x < 4; ++x) f(g, x);
    };
    const auto add_piece = [&](int n) {
      for_pairs([&](int g, int x) { newer_.add(2 * g + x / 2, ds[g][n][x], feature(g, n, x)); });
    };
    if (scores.is_of_one()) {
      take_segment(scores.segment());
#pragma unroll
      for (int n = 0; n < kPieces; ++n) add_piece(n);
      return;
    }
    float factors[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) factors[r] = rows_[row_ + 8 * r].row_factor();
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const SegmentRange range = scores.of_piece(n);
      // Keys come nearer from tile to tile, and arguments fall.
#pragma unroll 1
      for (int k = range.highest; k >= range.lowest; --k) {
        take_segment(k);
        if (scores.is_of_one(n)) {
          add_piece(n);
          break;
        }
        const float from = k == range.lowest ? -kInfinity : bias_.knots[k - 1];
        const bool is_highest = k == range.highest;
        const float end = is_highest ? kInfinity : bias_.knots[k];
        for_pairs([&](int g, int x) {
          const int r = 2 * g + x / 2;
          const float argument = feature(g, n, x) * factors[r];
          const bool is_in = !(argument < from) && (is_highest || argument < end);
          newer_.add(r, is_in ? ds[g][n][x] : 0, feature(g, n, x));
        });
      }
    }
  }
  /// After the last tile of a block's own queries, the first of them `own`.
  __device__ void finish(int head, int own, int n_query) {
    flush(newer_);
    flush(older_);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float sum = row_factor_[r];
      sum += __shfl_xor_sync(kAllLanes, sum, 1);
      sum += __shfl_xor_sync(kAllLanes, sum, 2);
      const int i = own + row_ + 8 * r;
      if (threadIdx.x % 4 == 0 && i < n_query)
        to_.row_factor[static_cast<int64_t>(head) * n_query + i] = sum;
    }
  }

 private:
  static constexpr int kRows = 2 * S::kGroups;  // of a lane
  // A lane's sums over the pairs of a segment: dS of its rows, and dS of each row times the
  // feature.
  struct Sums {
    int segment = -1;  // none
    float ds = 0, by_feature[kRows] = {};

    __device__ void add(int r, float x, float feature) {
      ds += x;
      by_feature[r] = std::fma(x, feature, by_feature[r]);
    }
  };

  // newer_ is the sum of segment k.
  __device__ void take_segment(int k) {
    if (newer_.segment == k) return;
    const Sums older = older_;
    older_ = newer_;
    newer_ = older;
    if (newer_.segment == k) return;
    flush(newer_);
    newer_ = {};
    newer_.segment = k;
  }
  __device__ void flush(const Sums& sums) {
    if (sums.segment < 0) return;
    const auto h = static_cast<int>(blockIdx.y);
    const float slope = bias_.slope[h * bias_.n_segment() + sums.segment];
    float of_slope = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      row_factor_[r] = std::fma(slope, sums.by_feature[r], row_factor_[r]);
      of_slope = std::fma(rows_[row_ + 8 * r].row_factor(), sums.by_feature[r], of_slope);
    }
    // The lower half of the warp adds up the one sum, the upper half the other.
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const bool is_slope = lane < kWarp / 2;
    float sum = is_slope ? of_slope : sums.ds;
    sum += __shfl_xor_sync(kAllLanes, is_slope ? sums.ds : of_slope, kWarp / 2);
    for (int step = kWarp / 4; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
    if (lane % (kWarp / 2) != 0) return;
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    const int64_t slice = (int64_t{h} * gridDim.x + blockIdx.x) * S::kRowWarps + warp;
    atomicAdd(&to_.segments[(2 * slice + (is_slope ? 0 : 1)) * bias_.n_segment() + sums.segment],
              sum);
  }

  const RowBiasTables& bias_;
  const SegmentSums& to_;
  const Row* rows_;
  int row_;
  Sums newer_, older_;
  float row_factor_[kRows] = {};
};

}  // namespace farfield::attention_cuda
