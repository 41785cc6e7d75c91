#pragma once
// Stores gradients of heads from a block's shared memory: turned back to the gradients of heads
// before rotation, and with the sums of their columns, which saves further passes over them.

#include "engine/cuda/attention_backward_tile.cuh"

namespace farfield::attention_cuda {

/// turn_back() with units of kN components.
template <class S, int kN, class T, int D, int R>
__device__ void turn_units_back(Tile<T, D, R>& tile, int first, const Rows<T>& rows,
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
        .put(tile.at[row], at);
  }
}

/// Turns a warp's rows of a tile back, from `first` on, by the warps that have written them there
/// and have waited for each other: with the bits of a pass of its own. angle_row: Angles::row() of
/// row 0.
template <class S, class T, int D, int R>
__device__ void turn_back(Tile<T, D, R>& tile, int first, const Rows<T>& rows, const Angles& angles,
                          int64_t angle_row) {
  constexpr int kN = kPieceSize<T>;
  if (rows.is_aligned && angles.fits(kN))
    turn_units_back<S, kN>(tile, first, rows, angles, angle_row);
  else
    turn_units_back<S, 1>(tile, first, rows, angles, angle_row);
}

/// The sums over a warp's rows of a tile, from `first` on, for its columns from `first_column` on.
template <int kRows, int kColumns, class T, int D, int R>
__device__ void sum_columns(const Tile<T, D, R>& tile, int first, int first_column,
                            const Rows<T>& rows, float* to) {
  const int end = first + kRows < rows.count ? first + kRows : rows.count;
  const int column_end = first_column + kColumns < D ? first_column + kColumns : D;
  for (int c = first_column + 2 * (thread_read_anew() % kWarp); c < column_end; c += 2 * kWarp) {
    float even = 0, odd = 0;
    for (int row = first; row < end; ++row) {
      even += widen(tile.at[row][c]);
      odd += widen(tile.at[row][c + 1]);
    }
    if (c < rows.head_dim) to[c] = even;
    if (c + 1 < rows.head_dim) to[c + 1] = odd;
  }
}

/// The parts of packed heads.
enum class Part { q, k, v };

/// Stores a warp's part of a block's own tile of gradients, whose row 0 is row `own` of n_own.
template <class S, class T, int D, int R>
__device__ void store_gradients(const Problem<T>& p, const BackwardArguments<T>& args, Part part,
                                const Head& head, int own, int n_own, const Lane& lane,
                                const Tile<T, D, R>& tile, T* to) {
  const Rows<T> rows = p.rows(to, p.rows_of(head, n_own), own);
  store_warp_rows<S::kPartRows, S::kColumns>(tile, lane.first, lane.first_column, rows);
  if (!args.column_sums) return;
  const int tile_of_all = own / S::kOwn * p.n_batch + head.batch;
  const int warp_of_all = tile_of_all * S::kRowWarps + lane.first / S::kPartRows;
  const int part_of_all = (warp_of_all * p.n_head + head.h) * 3 + static_cast<int>(part);
  sum_columns<S::kPartRows, S::kColumns>(
      tile, lane.first, lane.first_column, rows,
      args.column_sums + static_cast<int64_t>(part_of_all) * p.head_dim);
}

}  // namespace farfield::attention_cuda
