#pragma once
// Matrix products of warpgroups with tiles in shared memory, heads of 64 or 128 components in
// bfloat16. A warpgroup holds 64 rows of a product, each warp 16 of them, as products of warps
// leave them.

#include "engine/cuda/attention_problem.cuh"
#include "engine/cuda/attention_products.cuh"
#include "engine/cuda/context.h"
#include "engine/cuda/wgmma.cuh"

namespace farfield::attention_cuda {

inline constexpr int kWarpgroup = 4 * kWarp;          ///< threads
inline constexpr int kWarpgroupRows = 4 * kWarpRows;  ///< of a product

/// Whether there are kernels for warpgroups with such scores, and whether a problem with them takes
/// these.
template <class Scores>
inline constexpr bool kHasWarpgroupKernels = !Scores::kIsGeneral && !Scores::kDrops;
template <class T>
bool takes_warpgroups(Cuda device, const Problem<T>& p) {
  return std::is_same_v<T, BFloat16> && (p.head_dim == 64 || p.head_dim == 128) &&
         p.can_move_pieces(p.q) && p.can_move_pieces(p.k) && p.can_move_pieces(p.v) &&
         is_aligned(p.bias) && is_aligned(p.weight) &&
         int64_t{p.n_head} * p.n_entry <= std::numeric_limits<int>::max() &&
         multiplies_by_warpgroups(device);
}
/// f(std::integral_constant<int, D>()) for such heads of D components.
template <class F>
void dispatch_warpgroup_head_dim(int head_dim, const F& f) {
  if (head_dim == 64)
    f(std::integral_constant<int, 64>());
  else
    f(std::integral_constant<int, 128>());
}

/// A tile of rows of D elements: swizzled rows (swizzle.h) of the first 64, then of the others.
template <int D, int R>
struct alignas(kSwizzledAlignment) SwizzledTile {
  static_assert(D % kSwizzledColumns == 0 && R % 8 == 0);
  static constexpr int kPanels = D / kSwizzledColumns;
  BFloat16 at[kPanels][R][kSwizzledColumns];
};

/// Begins sums = dot products of a warpgroup's rows with the rows of a tile.
template <int D>
__device__ void begin_dot_products(float (&sums)[1][8][4],
                                   const SwizzledTile<D, kWarpgroupRows>& own,
                                   const SwizzledTile<D, 64>& tile) {
#pragma unroll
  for (int panel = 0; panel < D / kSwizzledColumns; ++panel) {
    const SwizzledFactor a(&own.at[panel][0][0]), b(&tile.at[panel][0][0]);
    if (panel == 0)
      begin_product<false>(sums[0], a, b);
    else
      begin_product<true>(sums[0], a, b);
#pragma unroll
    for (int k = 16; k < kSwizzledColumns; k += 16) begin_product<true>(sums[0], a + k, b + k);
  }
}

/// Begins sums += x rows, with x [64, 64] and the rows of a tile.
template <int D>
__device__ void begin_adding_rows(float (&sums)[1][D / 8][4], const Factors<BFloat16, 1, 8>& x,
                                  const SwizzledTile<D, 64>& tile) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const Left<BFloat16> left = x.left(0, k);
    const auto add = [&](auto panel) {
      const SwizzledFactor rows(&tile.at[panel()][0][0]);
      begin_adding_product<panel() * kSwizzledColumns / 8>(sums[0], left.part[0],
                                                           rows + 16 * k * kSwizzledColumns);
    };
    add(std::integral_constant<int, 0>());
    if constexpr (D == 2 * kSwizzledColumns) add(std::integral_constant<int, 1>());
  }
}

}  // namespace farfield::attention_cuda
