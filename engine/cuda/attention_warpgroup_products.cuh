#pragma once
// Matrix products of warpgroups with tiles in shared memory, heads of 64 components in bfloat16. A
// warpgroup holds 64 rows of a product, each warp 16 of them, as products of warps leave them.

#include "engine/cuda/attention_problem.cuh"
#include "engine/cuda/attention_products.cuh"
#include "engine/cuda/context.h"
#include "engine/cuda/wgmma.cuh"

namespace farfield::attention_cuda {

inline constexpr int kWarpgroup = 4 * kWarp;                ///< threads
inline constexpr int kWarpgroupRows = 4 * kWarpRows;        ///< of a product
inline constexpr int kWarpgroupColumns = kSwizzledColumns;  ///< of a head

/// Whether there are kernels for warpgroups with such scores, and whether a problem with them takes
/// these.
template <class Scores>
inline constexpr bool kHasWarpgroupKernels = !Scores::kIsGeneral && !Scores::kDrops;
template <class T>
bool takes_warpgroups(Cuda device, const Problem<T>& p) {
  return std::is_same_v<T, BFloat16> && p.head_dim == kWarpgroupColumns && p.can_move_pieces(p.q) &&
         p.can_move_pieces(p.k) && p.can_move_pieces(p.v) && is_aligned(p.bias) &&
         is_aligned(p.weight) && int64_t{p.n_head} * p.n_entry <= std::numeric_limits<int>::max() &&
         multiplies_by_warpgroups(device);
}

/// A tile of swizzled rows (swizzle.h).
template <int R>
struct alignas(kSwizzledAlignment) SwizzledTile {
  static_assert(R % 8 == 0);
  BFloat16 at[R][kSwizzledColumns];
};

/// Begins sums = dot products of a warpgroup's rows with those of a tile.
__device__ inline void begin_dot_products(float (&sums)[1][8][4],
                                          const SwizzledTile<kWarpgroupRows>& own,
                                          const SwizzledTile<64>& tile) {
  const SwizzledFactor a(&own.at[0][0]), b(&tile.at[0][0]);
  begin_product<false>(sums[0], a, b);
#pragma unroll
  for (int k = 16; k < kSwizzledColumns; k += 16) begin_product<true>(sums[0], a + k, b + k);
}

/// Begins sums += x rows, x [64, 64], rows those of a tile.
__device__ inline void begin_adding_rows(float (&sums)[1][8][4], const Factors<BFloat16, 1, 8>& x,
                                         const SwizzledTile<64>& tile) {
  const SwizzledFactor rows(&tile.at[0][0]);
#pragma unroll
  for (int k = 0; k < 4; ++k)
    begin_adding_product(sums[0], x.left(0, k).part[0], rows + 16 * k * kSwizzledColumns);
}

}  // namespace farfield::attention_cuda
