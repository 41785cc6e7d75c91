#pragma once
// Gradients of heads before they were turned, from those of turned ones, on their way from shared
// memory: with the bits of a pass of its own, which would read and write them once more.

#include "engine/cuda/attention_tile.cuh"
#include "engine/cuda/turn.cuh"

namespace farfield::attention_cuda {

/// store_turned_back() with units of kN components.
template <class S, int kN, class T, int D, int R>
__device__ void store_units_turned_back(const Tile<T, D, R>& tile, int first, const Rows<T>& rows,
                                        const Angles& angles, int64_t angle_row) {
  constexpr int kWarpsOfRow = D / S::kColumns;
  const int n_unit = computed_anew(angles.n_unit<kN>(rows.head_dim));
  const int thread = thread_read_anew() % kWarp + S::first_column() / S::kColumns * kWarp;
#pragma unroll 1
  for (int i = thread; i < S::kPartRows * n_unit; i += kWarpsOfRow * kWarp) {
    const int row = first + i / n_unit;
    if (row >= rows.count) return;
    const UnitColumns at = UnitColumns::of<kN>(i % n_unit, angles);
    Unit<true, kN>(tile.at[row], at, angles, angle_row + static_cast<int64_t>(row) * angles.half)
        .put(rows.first + row * rows.stride, at);
  }
}

/// Stores a warp's rows of a tile, from `first` on, turned back, by the warps that have written
/// them there and have waited for each other. angle_row: Angles::row() of row 0.
template <class S, class T, int D, int R>
__device__ void store_turned_back(const Tile<T, D, R>& tile, int first, const Rows<T>& rows,
                                  const Angles& angles, int64_t angle_row) {
  constexpr int kN = kPieceSize<T>;
  if (rows.is_aligned && angles.fits(kN))
    store_units_turned_back<S, kN>(tile, first, rows, angles, angle_row);
  else
    store_units_turned_back<S, 1>(tile, first, rows, angles, angle_row);
}

}  // namespace farfield::attention_cuda
