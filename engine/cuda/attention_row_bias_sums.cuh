#pragma once
// Gradients of a bias by distance and query, as sums along the rows of dS.

#include "engine/cuda/attention_diagonals.cuh"
#include "engine/cuda/attention_problem.cuh"

namespace farfield::attention_cuda {

/// Where the rows of queries add up their sums; one thread owns a row, so there is no race.
struct SegmentSums {
  float* segments = nullptr;    ///< [H, B * T, 2, n_segment], zeros at first: of slope and offset
  float* row_factor = nullptr;  ///< [B * H, T]

  FARFIELD_HD explicit operator bool() const { return segments != nullptr; }
};

/// dS of a tile: kOwn queries by kLoop keys.
template <class S>
struct alignas(16) SegmentShared {
  float ds[S::kOwn][S::kLoop + 1];
};

/// The thread of a row of a block's own queries. Along a row the argument of the piecewise linear
/// function does not rise, so what is summed of a segment lies together.
template <class S>
class SegmentWalk {
 public:
  __device__ SegmentWalk(const RowBiasTables& bias, const SegmentSums& to, const Head& head,
                         int query, int n_query, int n_batch, int n_head)
      : bias_(bias), n_segment_(bias.n_knot + 1) {
    const int i = query + static_cast<int>(threadIdx.x);
    has_row_ = to.segments && static_cast<int>(threadIdx.x) < S::kOwn && i < n_query;
    if (!has_row_) return;
    const int64_t row = (static_cast<int64_t>(head.h) * n_batch + head.batch) * n_query + i;
    segments_ = to.segments + row * 2 * n_segment_;
    row_factor_to_ =
        to.row_factor + (static_cast<int64_t>(head.batch) * n_head + head.h) * n_query + i;
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
      int segment = segment_;
      while (segment + 1 < n_segment_ && !(x < bias_.knots[segment])) ++segment;
      while (segment > 0 && x < bias_.knots[segment - 1]) --segment;
      if (segment != segment_) flush();
      segment_ = segment;
      sum_ += shared.ds[row][j];
      sum_x_ += shared.ds[row][j] * x;
      sum_row_factor_ += shared.ds[row][j] * slope_[segment] * bias_.feature[d];
    }
  }
  __device__ void finish() {
    if (!has_row_) return;
    flush();
    *row_factor_to_ = sum_row_factor_;
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
  float *segments_ = nullptr, *row_factor_to_ = nullptr;
  const float* slope_ = nullptr;
  float row_factor_ = 0, sum_ = 0, sum_x_ = 0, sum_row_factor_ = 0;
};

}  // namespace farfield::attention_cuda
