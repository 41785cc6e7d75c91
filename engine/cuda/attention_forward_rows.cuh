#pragma once
// The rows of queries that a warp holds in the forward pass: from dot products to scores, to
// probabilities, to outputs, with the softmax by blocks of FlashAttention (Dao et al. 2022,
// arXiv:2205.14135).

#include "engine/cuda/attention_normalizer.cuh"
#include "engine/cuda/attention_products.cuh"

namespace farfield::attention_cuda {

/// Where the forward pass writes; null: not wanted.
template <class T>
struct ForwardOutputs {
  T* out;
  float *lse, *threshold, *sum;
};

/// The largest, and the sum, of the values of the four lanes that hold a row.
__device__ inline float row_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, 1));
  return fmaxf(x, __shfl_xor_sync(kAllLanes, x, 2));
}
__device__ inline float row_sum(float x) {
  x += __shfl_xor_sync(kAllLanes, x, 1);
  return x + __shfl_xor_sync(kAllLanes, x, 2);
}

/// The work of a block: the queries of a head from `query` on.
struct ForwardItem {
  Head head;
  int query;

  /// The longest rows come first, among heads whose keys are read together, so that only short rows
  /// are left at the end. Each call computes the item anew, to save registers.
  template <class S, class T>
  __device__ static ForwardItem of_block(const Problem<T>& p) {
    const int block = computed_anew(static_cast<int>(blockIdx.x));
    const int n_tiles = (p.n_query + S::kOwn - 1) / S::kOwn;
    const TileOf item = TileOrder{n_tiles, p.heads(), p.n_together}.at(block);
    return {p.head_at(item.index), (n_tiles - 1 - item.tile) * S::kOwn};
  }
};

/// One warp's rows, kGroups times 16, and of their sums kColumns columns. A lane holds rows 8
/// apart, the first row() of the block's tile.
template <class T, int D, class Scores, class Sizes>
class ForwardRows {
 public:
  using S = Sizes;
  static constexpr int kGroups = S::kGroups, kRows = 2 * kGroups;  // of a lane
  static constexpr int kPieces = S::kLoop / 8;
  using Pieces = float[kGroups][kPieces][4];

  __device__ ForwardRows(const Problem<T>& p, int query) : p_(p) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    row_ = first() + lane / 4;
    query_ = query + row_;
    if constexpr (kKeepsReference && !Scores::kAddsRowBias)
      if (!p.bias && !p.weight && !p.row_scale) unit_ = p.scale;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int i = query_ + 8 * r;
      max_[r] = -kInfinity;
      factor_[r] = p.scale;
      if (p.row_scale && i < p.n_query) factor_[r] *= p.row_scale[i];
      if constexpr (Scores::kIsGeneral)
        relu_factor_[r] = p.is_relu && i < p.n_query ? relu_factor_of(p, i) : 0;
      if constexpr (Scores::kAddsRowBias) row_factor_[r] = p.row_factor_of(i);
    }
  }

  /// The first of the warp's rows. Of the last tiles of keys the later half of a block's rows sees
  /// more; in half of the blocks other warps have it, since a scheduler has the same warps of all.
  __device__ static int first() {
    const int first = S::first_row();
    if constexpr (kGroups == 1) return first;
    return first ^ (static_cast<int>(blockIdx.x) / 4 % 2 * (S::kOwn / 2));
  }
  /// The first row and column of the block's tiles that this lane holds.
  __device__ int row() const { return row_; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) % 4 * 2; }

  /// Has RowBiasScores find the segments of the rows of this warp, for the tile that was started.
  __device__ void start_segments(Scores& scores) const {
    if constexpr (Scores::kAddsRowBias)
      scores.template start_segments<false, kPieces>(first(), S::kPartRows,
                                                     RowFactors::of_warp(row_factor_));
  }

  /// s: dot products to scores, in units of unit_, after start_segments(); and the largest of each
  /// row so far, with kKeepsReference of what this lane has of it.
  __device__ void take_scores(Scores& scores, Pieces& s, float (&largest)[kRows]) const {
    const auto take = [&](auto&& score) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g)
#pragma unroll
        for (int n = 0; n < kPieces; ++n)
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int r = 2 * g + i / 2;
            s[g][n][i] =
                score(s[g][n][i], factor_[r], row_ + 8 * r, 8 * n + column() + i % 2).value;
          }
    };
    if constexpr (Scores::kIsGeneral) {
      scores.template for_tile<Tables::asked>(take);
    } else if constexpr (Scores::kAddsRowBias) {
      scores.template add_row_bias<false>(
          s, row_, column(),
          [this](int g, int, int x) {
            const int r = 2 * g + x / 2;
            return QueryFactors{factor_[r], row_factor_[r]};
          },
          [](int, int, int, float) {});
    } else {
      scores.template for_tile<Tables::asked>([&](auto&& score) {
        using ScoreOf = std::remove_cvref_t<decltype(score)>;
        if constexpr (kKeepsReference && ScoreOf::kIsProduct)
          if (unit_ != 1) return;
        take(score);
      });
    }
    if constexpr (!Scores::kIsGeneral)
      scores.template hide<false>(row_, column(), -kInfinity, [&](auto&& hide) {
#pragma unroll
        for (int g = 0; g < kGroups; ++g)
#pragma unroll
          for (int n = 0; n < kPieces; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i) hide(s[g][n][i], g * kWarpRows + i / 2 * 8, 8 * n + i % 2);
      });
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      largest[r] = max_[r];
#pragma unroll
      for (int n = 0; n < kPieces; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) largest[r] = fmaxf(largest[r], s[r / 2][n][r % 2 * 2 + i]);
      if constexpr (!kKeepsReference) largest[r] = row_max(largest[r]);
    }
  }

  __device__ void keep_largest(const float (&largest)[kRows]) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) max_[r] = largest[r];
  }

  /// Scores to probabilities, relative to max_.
  __device__ void normalize(Pieces& s, const float (&largest)[kRows]) {
    bool is_relative = true;
    if constexpr (Scores::kIsGeneral) is_relative = !p_.is_relu;
    if (is_relative) take_largest(largest);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const int g = r / 2, half = r % 2;
      float shift = base_of(max_[r]) * unit_ * Scores::kShiftUnit, threshold = -kInfinity;
      if constexpr (Scores::kIsGeneral) {
        if (p_.is_clamped) threshold = clamp_threshold(p_.kind, p_.parameter, largest[r]);
        if (p_.is_relu) shift = relu_factor_[r];
      }
#pragma unroll
      for (int n = 0; n < kPieces; ++n)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          if constexpr (kKeepsReference)
            s[g][n][i] = Scores::exp_of_product(s[g][n][i], unit_, shift);
          else
            s[g][n][i] = probability<Scores>(p_, s[g][n][i], shift, threshold);
          sum_[r] += s[g][n][i];
        }
    }
  }

  /// Dropout, of the pairs of a tile.
  __device__ void drop(Scores& scores, Pieces& probabilities) const {
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
#pragma unroll
      for (int n = 0; n < kPieces; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          probabilities[g][n][i] *=
              scores.kept(row_ + 16 * g + i / 2 * 8, 8 * n + column() + i % 2);
  }

  __device__ static Factors<T, kGroups, kPieces> weights_of(const Pieces& probabilities) {
    Factors<T, kGroups, kPieces> weights;
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
#pragma unroll
      for (int n = 0; n < kPieces; ++n)
#pragma unroll
        for (int i = 1; i < 4; i += 2)
          weights.set_pair(g, n, i, probabilities[g][n][i - 1], probabilities[g][n][i]);
    return weights;
  }
  __device__ void add_values(const Pieces& probabilities, const Tile<T, D, S::kLoop>& values) {
    // With dropout there are no registers for it.
    add_weighted_rows<S::kColumns, !Scores::kDrops>(out_, weights_of(probabilities), values,
                                                    S::first_column());
  }
  /// The sums that add_values() adds to, for warpgroup products.
  __device__ auto& out() { return out_; }

  /// Stores through the warp's own rows of a tile.
  __device__ void store(const ForwardOutputs<T>& to, const ForwardItem& item,
                        Tile<T, D, S::kOwn>& tile) {
    const int first_column = S::first_column();
    float by[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float sum = row_sum(sum_[r]);
      by[r] = p_.divides_by_sum ? inverse_sum(sum) : 1;
      const int i = query_ + 8 * r;
      if (threadIdx.x % 4 != 0 || first_column != 0 || i >= p_.n_query) continue;
      const int64_t at = static_cast<int64_t>(p_.index_of(item.head)) * p_.n_query + i;
      // A row that sees nothing: exp(score - inf) = 0 makes its P 0 in the backward pass.
      if (to.lse) to.lse[at] = sum == 0 ? kInfinity : max_[r] * unit_ + std::log(sum);
      if (to.threshold) to.threshold[at] = clamp_threshold(p_.kind, p_.parameter, max_[r]);
      if (to.sum) to.sum[at] = sum;
    }
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
      put_sums<S::kColumns>(out_[g], by[2 * g], by[2 * g + 1], tile, first() + g * kWarpRows,
                            first_column);
    __syncwarp();
    store_warp_rows<S::kPartRows, S::kColumns>(
        tile, first(), first_column, p_.rows(to.out, p_.token_rows_of(item.head), item.query));
  }

 private:
  /// Whether a score that was the largest stays what probabilities are relative to, while none
  /// exceeds it by more than kMostAbove: the sums, by which the output is divided, are relative to
  /// the same. Then most tiles need no word from other lanes, and rescale nothing. As in
  /// FlashAttention-4.
  static constexpr bool kKeepsReference = S::kKeepsReference;
  static constexpr float kMostAbove = kKeepsReference ? 5.5f : 0;  // e^5.5 = 245

  // The base of a row's exponentials; 0 for a row that has seen nothing yet, so that all its terms
  // are 0.
  __device__ static float base_of(float largest) { return largest == -kInfinity ? 0 : largest; }
  // Brings all that was summed to the largest scores.
  __device__ void take_largest(const float (&largest)[kRows]) {
    bool is_exceeded = false;
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      is_exceeded |= largest[r] * unit_ > max_[r] * unit_ + kMostAbove;
    if (!__any_sync(kAllLanes, is_exceeded)) return;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float most = kKeepsReference ? row_max(largest[r]) : largest[r];
      const float by = Scores::exp((max_[r] - base_of(most)) * unit_);
      max_[r] = most;
      sum_[r] *= by;
#pragma unroll
      for (int n = 0; n < S::kColumns / 8; ++n) {
        out_[r / 2][n][r % 2 * 2] *= by;
        out_[r / 2][n][r % 2 * 2 + 1] *= by;
      }
    }
  }

  const Problem<T>& p_;
  int row_, query_;  // of this lane; it holds row_ + 8, ... too
  float factor_[kRows], relu_factor_[kRows] = {}, row_factor_[kRows] = {};
  /// The unit of scores: the common factor of all dot products, if a score has no other term. The
  /// multiply-add of the exponential then applies it.
  float unit_ = 1;
  float max_[kRows], sum_[kRows] = {};
  float out_[kGroups][S::kColumns / 8][4] = {};
};

}  // namespace farfield::attention_cuda
