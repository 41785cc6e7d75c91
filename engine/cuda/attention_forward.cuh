#pragma once
// The forward pass: a block owns a tile of queries of one head and walks the tiles of keys
// that they see, with the softmax by blocks of FlashAttention (Dao et al. 2022, arXiv:2205.14135).

#include "engine/cuda/attention_normalizer.cuh"
#include "engine/cuda/attention_products.cuh"
#include "engine/cuda/context.h"

namespace farfield::attention_cuda {

/// Where the forward pass writes; null: not wanted.
template <class T>
struct ForwardOutputs {
  T* out;
  float *lse, *threshold, *sum;
};

/// Rows of the tiles: a block's own queries and the keys that it walks.
template <class T, int D, class Scores>
struct ForwardSizes : WarpSizes<D, !Scores::kIsGeneral && D <= 64 ? 2 : 1> {
  static constexpr bool kKeepsReference = false;
  static constexpr int kLoop = kRowBytes<T, D> <= 256 ? 64 : kRowBytes<T, D> <= 512 ? 32 : 16;
};

template <class T, int D, class Scores>
struct ForwardShared {
  static constexpr int kStages = Scores::kIsGeneral ? 1 : 2;  // while one is read, one is loaded
  using S = ForwardSizes<T, D, Scores>;
  static_assert(S::kOwn + S::kLoop <= 3 * kTile, "distances of which a tile has tables");
  using Queries = Tile<T, D, S::kOwn>;
  struct Stage {
    Tile<T, D, S::kLoop> k, v;
  };
  // The block's queries, and later its sums for them, take the place of the second stage, if there
  // is one: they are in registers before it is loaded, and complete when all has been read.
  struct AfterStage {
    Stage first;
    Queries q;
  };
  union {
    Stage stages[kStages];
    AfterStage after;
  };
  typename Scores::Shared scores[kStages];
  Queries far_q;  // last: left out without far copies
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

/// What a block computes: the queries of a head from `query` on.
struct ForwardItem {
  Head head;
  int query;

  /// The longest rows first: what is left for the end is short. Found anew by each call, for want
  /// of registers.
  template <class S, class T>
  __device__ static ForwardItem of_block(const Problem<T>& p) {
    const int block = computed_anew(static_cast<int>(blockIdx.x));
    const int n_tiles = (p.n_query + S::kOwn - 1) / S::kOwn;
    return {p.head_at(block % p.heads()), (n_tiles - 1 - block / p.heads()) * S::kOwn};
  }
};

/// One warp's rows, kGroups times 16, and of their sums kColumns columns. A lane holds rows 8
/// apart, the first row() of the block's tile.
template <class T, int D, class Scores, class Sizes = ForwardSizes<T, D, Scores>>
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
  /// What add_values() adds to, for products of warpgroups.
  __device__ auto& out() { return out_; }

  /// Through the warp's rows of a tile that nobody else uses.
  __device__ void store(const ForwardOutputs<T>& to, const ForwardItem& item,
                        Tile<T, D, S::kOwn>& tile) {
    const int first_column = S::first_column();
    float by[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const float sum = row_sum(sum_[r]);
      by[r] = p_.is_relu ? 1 : sum == 0 ? 0 : 1 / sum;
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

  // What the exponentials of a row are relative to: of one that has seen nothing yet 0, so that all
  // its terms are 0.
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
  /// What scores are multiples of: the factor of all dot products, where there is nothing else to a
  /// score. Then the exponential's multiply-add has it.
  float unit_ = 1;
  float max_[kRows], sum_[kRows] = {};
  float out_[kGroups][S::kColumns / 8][4] = {};
};

/// As kBlocks, in the forward pass: two groups of rows take more registers, and save enough work.
template <class T, int D, class Scores>
inline constexpr int kForwardBlocks =
    ForwardSizes<T, D, Scores>::kGroups > 1 ? 2 : kBlocks<D, Scores>;

template <class T, int D, class Scores>
__global__ void __launch_bounds__(kBlock, kForwardBlocks<T, D, Scores>)
    attention_forward_kernel(Problem<T> p, ForwardOutputs<T> to) {
  auto& shared = *dynamic_shared<ForwardShared<T, D, Scores>>();
  using S = ForwardSizes<T, D, Scores>;
  const auto own_rows = [&p] { return ForwardItem::of_block<S>(p); };
  const ForwardItem item = own_rows();
  const Head head = item.head;
  const int query = item.query;

  using WarpRows = ForwardRows<T, D, Scores>;
  constexpr int kGroups = WarpRows::kGroups;
  constexpr bool kIsPlain = !Scores::kIsGeneral;
  const HeadRows queries = p.rows_of(head, p.n_query), keys = p.rows_of(head, p.n_key);
  Scores scores(p, head);
  const TileList tiles = p.template key_tiles<S::kOwn, S::kLoop>(query);
  constexpr bool kHasLoader = kIsPlain && !Scores::kDrops;  // which have no registers for it
  const Rows<const T> all_k = p.rows(p.k, keys, 0), all_v = p.rows(p.v, keys, 0);
  [[maybe_unused]] const TileLoader<T, PaddedRows<D>> loader(all_k, all_v);
  const auto load_keys = [&](int t, int stage) {
    const int key = tiles.at(t) * S::kLoop;
    auto& tiles_of_stage = shared.stages[stage];
    scores.load(shared.scores[stage], query, S::kOwn, key, S::kLoop);
    if (kHasLoader && all_k.is_aligned && all_v.is_aligned) {
      const int stride = p.row_step * p.head_dim;
      loader.load(tiles_of_stage.k, stride, tiles_of_stage.v, stride, key);
    } else {
      load_tile<kIsPlain>(tiles_of_stage.k, p.rows(p.k, keys, key));
      load_tile<kIsPlain>(tiles_of_stage.v, p.rows(p.v, keys, key));
    }
  };
  load_tile<kIsPlain>(shared.after.q, p.rows(p.q, queries, query));
  auto own = own_factors<kIsPlain, kGroups>(shared.after.q, WarpRows::first());
  if constexpr (kIsPlain) {
    load_keys(0, 0);
    wait_for_copies();
    __syncthreads();
    own.keep();
  } else if (p.far_q) {
    load_tile(shared.far_q, p.rows(p.far_q, queries, query));
  }

  WarpRows rows(p, query);
  // What a clamp leaves out depends on the largest score of the row: this comes first, in a pass of
  // its own.
  for (int pass = p.is_clamped ? 0 : 1; pass < 2; ++pass)
    for (int t = 0; t < tiles.count(); ++t) {
      const int key = tiles.at(t) * S::kLoop, stage = kIsPlain ? t % 2 : 0;
      typename WarpRows::Pieces s = {};
      scores.start_tile(shared.scores[stage], query, S::kOwn, key, S::kLoop);
      if constexpr (kIsPlain) {
        wait_for_copies();
        __syncthreads();  // this tile is there for all, and all have read what was before it
        if (t + 1 < tiles.count()) load_keys(t + 1, 1 - stage);
        if (!scores.start_part(WarpRows::first(), S::kPartRows, 0, S::kLoop)) continue;
        if (query + WarpRows::first() >= p.n_query) continue;
        rows.start_segments(scores);
        multiply_by_rows<false, D>(s, own, shared.stages[stage].k, 0);
      } else {
        auto& k_tile = shared.stages[0].k;
        __syncthreads();  // all have read the tile before
        scores.load(shared.scores[0], query, S::kOwn, key, S::kLoop);
        if (pass == 1) load_tile(shared.stages[0].v, p.rows(p.v, keys, key));
        if (scores.has_near()) {
          load_tile(k_tile, p.rows(p.k, keys, key));
          __syncthreads();
          multiply_by_rows<false, D>(s, own, k_tile, 0);
        }
        if (scores.has_far()) {
          typename WarpRows::Pieces far = {};
          __syncthreads();
          load_tile(k_tile, p.rows(p.far_k, keys, key));
          __syncthreads();
          multiply_by_rows<false, D>(
              far, own_factors<false, kGroups>(shared.far_q, WarpRows::first()), k_tile, 0);
          take_far<false>(scores, s[0], far[0], rows.row(), rows.column());
        }
      }
      float largest[WarpRows::kRows];
      rows.take_scores(scores, s, largest);
      if (pass == 0) {
        rows.keep_largest(largest);
        continue;
      }
      rows.normalize(s, largest);
      if constexpr (Scores::kDrops) rows.drop(scores, s);
      // The matrix instructions need the lanes together; general scores go ways of their own.
      if constexpr (Scores::kIsGeneral) __syncwarp();
      rows.add_values(s, shared.stages[stage].v);
    }
  __syncthreads();
  rows.store(to, own_rows(), shared.after.q);
}

/// Each instance is compiled in a file of its own: all together take minutes.
template <class T, class Scores>
void run_forward(Cuda device, const Problem<T>& p, const ForwardOutputs<T>& to) {
  dispatch_head_dim(p.head_dim, [&](auto size) {
    using Shared = ForwardShared<T, size(), Scores>;
    constexpr size_t kBytes = sizeof(Shared) - sizeof(Shared::far_q);
    static_assert(kBytes <= kSmallShared && sizeof(Shared) <= kLargeShared);
    const size_t bytes = p.far_q ? sizeof(Shared) : kBytes;
    constexpr int kQueries = Shared::S::kOwn;
    const int64_t n_blocks =
        static_cast<int64_t>((p.n_query + kQueries - 1) / kQueries) * p.heads();
    launch(attention_forward_kernel<T, size(), Scores>, static_cast<unsigned>(n_blocks), kBlock,
           bytes, stream_of(device), p, to);
  });
}
extern template void run_forward<BFloat16, PlainScores<BFloat16>>(Cuda, const Problem<BFloat16>&,
                                                                  const ForwardOutputs<BFloat16>&);
extern template void run_forward<BFloat16, RowBiasScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<BFloat16, GeneralScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<float, GeneralScores<float>>(Cuda, const Problem<float>&,
                                                              const ForwardOutputs<float>&);
extern template void run_forward<BFloat16, DroppingScores<PlainScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<BFloat16, DroppingScores<GeneralScores<BFloat16>>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<float, DroppingScores<GeneralScores<float>>>(
    Cuda, const Problem<float>&, const ForwardOutputs<float>&);

}  // namespace farfield::attention_cuda
