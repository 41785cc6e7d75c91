#pragma once
// The forward pass: a block owns kOwn queries (Sizes) of one head and walks the tiles of keys that
// they see, with the softmax by blocks of FlashAttention (Dao et al. 2022, arXiv:2205.14135).

#include "engine/cuda/attention_normalizer.cuh"
#include "engine/cuda/context.h"

namespace farfield::attention_cuda {

/// Where the forward pass writes; null: not wanted.
template <class T>
struct ForwardOutputs {
  T* out;
  float *lse, *threshold, *sum;
};

template <class T, int D, class Scores>
struct ForwardShared {
  static constexpr int kStages = Scores::kIsGeneral ? 1 : 2;  // while one is read, one is loaded
  using S = Sizes<T, D, Scores::kIsGeneral>;
  Tile<T, D, S::kOwn> q;
  Tile<T, D, S::kKeys> k[kStages], v[kStages];
  typename Scores::Shared scores[kStages];
  Tile<T, D, S::kOwn> far_q;  // last: left out without far copies
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

/// One warp's 16 rows, and of their sums kColumns columns.
template <class T, int D, class Scores>
class ForwardRows {
 public:
  using S = Sizes<T, D, Scores::kIsGeneral>;
  static constexpr int kPieces = S::kKeys / 8;

  __device__ ForwardRows(const Problem<T>& p, int query) : p_(p) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    row_ = S::first_row() + lane / 4;
    query_ = query + row_;
    for (int r = 0; r < 2; ++r) {
      const int i = query_ + 8 * r;
      factor_[r] = p.scale * Scores::kUnit;
      if (p.row_scale && i < p.n_query) factor_[r] *= p.row_scale[i];
      if constexpr (Scores::kIsGeneral)
        relu_factor_[r] = p.is_relu && i < p.n_query ? relu_factor_of(p, i) : 0;
    }
  }

  /// The first row and column of the block's tiles that this lane holds.
  __device__ int row() const { return row_; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) % 4 * 2; }

  /// s: dot products to scores; and the largest of each row so far.
  __device__ void take_scores(Scores& scores, float (&s)[kPieces][4], float (&largest)[2]) const {
    largest[0] = max_[0];
    largest[1] = max_[1];
    scores.template for_tile<true>([&](auto&& score) {
#pragma unroll
      for (int n = 0; n < kPieces; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int r = i / 2;
          s[n][i] = score(s[n][i], factor_[r], row_ + 8 * r, 8 * n + column() + i % 2).value;
          largest[r] = fmaxf(largest[r], s[n][i]);
        }
    });
    largest[0] = row_max(largest[0]);
    largest[1] = row_max(largest[1]);
  }

  __device__ void keep_largest(const float (&largest)[2]) {
    max_[0] = largest[0];
    max_[1] = largest[1];
  }

  /// Scores to probabilities, relative to the largest score so far, and with it all that was summed
  /// before.
  __device__ void normalize(float (&s)[kPieces][4], const float (&largest)[2]) {
    float shift[2], threshold[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      // A row that has seen nothing yet: relative to 0, all its terms are 0.
      shift[r] = largest[r] == -kInfinity ? 0 : largest[r];
      threshold[r] = -kInfinity;
      if constexpr (Scores::kIsGeneral) {
        if (p_.is_clamped) threshold[r] = clamp_threshold(p_.kind, p_.parameter, largest[r]);
        if (p_.is_relu) {
          shift[r] = relu_factor_[r];
          continue;
        }
      }
      const float by = Scores::exp(max_[r] - shift[r]);
      max_[r] = largest[r];
      sum_[r] *= by;
#pragma unroll
      for (int n = 0; n < S::kColumns / 8; ++n) {
        out_[n][2 * r] *= by;
        out_[n][2 * r + 1] *= by;
      }
    }
#pragma unroll
    for (int n = 0; n < kPieces; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        s[n][i] = probability<Scores>(p_, s[n][i], shift[i / 2], threshold[i / 2]);
        sum_[i / 2] += s[n][i];
      }
  }

  /// Dropout, of the pairs of a tile.
  __device__ void drop(Scores& scores, float (&probabilities)[kPieces][4]) const {
#pragma unroll
    for (int n = 0; n < kPieces; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        probabilities[n][i] *= scores.kept(row_ + i / 2 * 8, 8 * n + column() + i % 2);
  }

  __device__ void add_values(const float (&probabilities)[kPieces][4],
                             const Tile<T, D, S::kKeys>& values) {
    add_weighted_rows<S::kColumns>(out_, probabilities, values, S::first_column());
  }

  /// Through the warp's rows of a tile that nobody else uses.
  __device__ void store(const ForwardOutputs<T>& to, int head, int first_query,
                        Tile<T, D, S::kOwn>& tile) {
    const int first = S::first_row(), first_column = S::first_column();
    float by[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = row_sum(sum_[r]);
      by[r] = p_.is_relu ? 1 : sum == 0 ? 0 : 1 / sum;
      const int i = query_ + 8 * r;
      if (threadIdx.x % 4 != 0 || first_column != 0 || i >= p_.n_query) continue;
      const int64_t at = static_cast<int64_t>(head) * p_.n_query + i;
      // A row that sees nothing: exp(score - inf) = 0 makes its P 0 in the backward pass.
      if (to.lse)
        to.lse[at] = sum == 0 ? kInfinity : (max_[r] + Scores::log(sum)) * (1 / Scores::kUnit);
      if (to.threshold) to.threshold[at] = clamp_threshold(p_.kind, p_.parameter, max_[r]);
      if (to.sum) to.sum[at] = sum;
    }
    put_sums<S::kColumns>(out_, by[0], by[1], tile, first, first_column);
    __syncwarp();
    store_warp_rows<S::kColumns>(tile, first, first_column,
                                 p_.token_rows(to.out, head, first_query));
  }

 private:
  const Problem<T>& p_;
  int row_, query_;  // of this lane; it holds row_ + 8, too
  float factor_[2], relu_factor_[2] = {};
  float max_[2] = {-kInfinity, -kInfinity}, sum_[2] = {};
  float out_[S::kColumns / 8][4] = {};
};

template <class T, int D, class Scores>
__global__ void __launch_bounds__(kBlock, kBlocks<D, Scores>)
    attention_forward_kernel(Problem<T> p, ForwardOutputs<T> to) {
  auto& shared = *dynamic_shared<ForwardShared<T, D, Scores>>();
  using S = Sizes<T, D, Scores::kIsGeneral>;
  const int n_tiles = (p.n_query + S::kOwn - 1) / S::kOwn;
  const auto block = static_cast<int>(blockIdx.x);
  // The longest rows first: what is left for the end is short.
  const int head = block % p.heads(), query = (n_tiles - 1 - block / p.heads()) * S::kOwn;
  const int first = S::first_row();

  constexpr bool kIsPlain = !Scores::kIsGeneral;
  Scores scores(p, head);
  const TileList tiles = p.template key_tiles<S::kOwn, S::kKeys>(query);
  const auto load_keys = [&](int t, int stage) {
    const int key = tiles.at(t) * S::kKeys;
    scores.load(shared.scores[stage], query, S::kOwn, key, S::kKeys);
    load_tile<kIsPlain>(shared.k[stage], p.rows(p.k, head, p.n_key, key));
    load_tile<kIsPlain>(shared.v[stage], p.rows(p.v, head, p.n_key, key));
  };
  load_tile<kIsPlain>(shared.q, p.rows(p.q, head, p.n_query, query));
  [[maybe_unused]] Left<T> kept[kIsPlain ? D / 16 : 1];
  if constexpr (kIsPlain) {
    load_keys(0, 0);
    wait_for_copies();
    __syncthreads();
#pragma unroll
    for (int k = 0; k < D; k += 16) kept[k / 16] = load_left(shared.q, first, k);
  } else if (p.far_q) {
    load_tile(shared.far_q, p.rows(p.far_q, head, p.n_query, query));
  }

  ForwardRows<T, D, Scores> rows(p, query);
  constexpr int kPieces = ForwardRows<T, D, Scores>::kPieces;
  // What a clamp leaves out depends on the largest score of the row: this comes first, in a pass of
  // its own.
  for (int pass = p.is_clamped ? 0 : 1; pass < 2; ++pass)
    for (int t = 0; t < tiles.count(); ++t) {
      const int key = tiles.at(t) * S::kKeys, stage = kIsPlain ? t % 2 : 0;
      float s[kPieces][4] = {};
      scores.start_tile(shared.scores[stage], query, S::kOwn, key, S::kKeys);
      if constexpr (kIsPlain) {
        if (t > 0) {
          wait_for_copies();
          __syncthreads();  // this tile is there for all, and all have read the one before
        }
        if (t + 1 < tiles.count()) load_keys(t + 1, 1 - stage);
        multiply_by_rows<false, D>(
            s, [&](int k) { return kept[k / 16]; }, shared.k[stage], 0);
      } else {
        auto& k_tile = shared.k[0];
        __syncthreads();  // all have read the tile before
        scores.load(shared.scores[0], query, S::kOwn, key, S::kKeys);
        if (pass == 1) load_tile(shared.v[0], p.rows(p.v, head, p.n_key, key));
        if (scores.has_near()) {
          load_tile(k_tile, p.rows(p.k, head, p.n_key, key));
          __syncthreads();
          multiply_by_rows<false, D>(
              s, [&](int k) { return load_left(shared.q, first, k); }, k_tile, 0);
        }
        if (scores.has_far()) {
          float far[kPieces][4] = {};
          __syncthreads();
          load_tile(k_tile, p.rows(p.far_k, head, p.n_key, key));
          __syncthreads();
          multiply_by_rows<false, D>(
              far, [&](int k) { return load_left(shared.far_q, first, k); }, k_tile, 0);
          take_far<false>(scores, s, far, rows.row(), rows.column());
        }
      }
      float largest[2];
      rows.take_scores(scores, s, largest);
      if (pass == 0) {
        rows.keep_largest(largest);
        continue;
      }
      rows.normalize(s, largest);
      if constexpr (Scores::kDrops) rows.drop(scores, s);
      // The matrix instructions need the lanes together; general scores go ways of their own.
      if constexpr (Scores::kIsGeneral) __syncwarp();
      rows.add_values(s, shared.v[stage]);
    }
  __syncthreads();
  rows.store(to, head, query, shared.q);
}

/// Each instance is compiled in a file of its own: all together take minutes.
template <class T, class Scores>
void run_forward(Cuda device, const Problem<T>& p, const ForwardOutputs<T>& to) {
  dispatch_head_dim(p.head_dim, [&](auto size) {
    using Shared = ForwardShared<T, size(), Scores>;
    constexpr size_t kBytes = sizeof(Shared) - sizeof(Shared::far_q);
    static_assert(kBytes <= kSmallShared && sizeof(Shared) <= kLargeShared);
    const size_t bytes = p.far_q ? sizeof(Shared) : kBytes;
    constexpr int kOwn = Shared::S::kOwn;
    const int64_t n_blocks = static_cast<int64_t>((p.n_query + kOwn - 1) / kOwn) * p.heads();
    launch(attention_forward_kernel<T, size(), Scores>, static_cast<unsigned>(n_blocks), kBlock,
           bytes, stream_of(device), p, to);
  });
}
extern template void run_forward<BFloat16, PlainScores<BFloat16>>(Cuda, const Problem<BFloat16>&,
                                                                  const ForwardOutputs<BFloat16>&);
extern template void run_forward<BFloat16, GeneralScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<float, GeneralScores<float>>(Cuda, const Problem<float>&,
                                                              const ForwardOutputs<float>&);
extern template void run_forward<BFloat16, DroppingScores<BFloat16>>(
    Cuda, const Problem<BFloat16>&, const ForwardOutputs<BFloat16>&);
extern template void run_forward<float, DroppingScores<float>>(Cuda, const Problem<float>&,
                                                               const ForwardOutputs<float>&);

}  // namespace farfield::attention_cuda
