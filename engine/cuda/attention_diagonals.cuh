#pragma once
// Sums over the diagonals of tiles [keys, queries], on which the distance is the same: gradients of
// tables by distance. A block adds up its tiles in a slice of memory of its own, always in the same
// order, and the slices are summed at the end.

#include "engine/cuda/attention_tile.cuh"

namespace farfield::attention_cuda {

// S below is a Sizes.

/// What a thread holds of a tile's diagonals: one sum for each difference of an 8-column piece and
/// an 8-row half, since elements that are 8 rows and 8 columns apart share a diagonal.
template <class S>
struct DiagonalParts {
  static constexpr int kCount = S::kLoop / 8 + 1;
  float at[kCount][2] = {};

  /// Element x (mma.cuh) of piece n.
  __device__ void add(int n, int x, float value) { at[n - x / 2 + 1][x % 2] += value; }
  /// The product of both, rounded once: the same sum in every kernel.
  __device__ void add_product(int n, int x, float a, float b) {
    float& sum = at[n - x / 2 + 1][x % 2];
    sum = std::fma(a, b, sum);
  }
};

/// The parts of each warp, [diagonal][column % 8]: the sums of a diagonal's elements in these
/// columns, all in one row % 8. Some diagonals have none in some columns: zeros at first, and
/// always.
template <class S>
struct alignas(16) DiagonalShared {
  // Strides such that lanes meet different banks, those that store and those that sum.
  static constexpr int kColumnStride = S::kLoop + 19;
  static constexpr int kWarpStride = (8 * kColumnStride + 15) / 32 * 32 + 16;
  float parts[S::kRowWarps][kWarpStride];

  /// By all threads, who wait for each other then.
  __device__ void clear() {
    for (int i = static_cast<int>(threadIdx.x); i < S::kRowWarps * kWarpStride; i += kBlock)
      parts[i / kWarpStride][i % kWarpStride] = 0;
  }
};

/// The slice of the table that a block sums, for distances [0, n).
struct DiagonalSlice {
  float* sums;
  int n;
};

/// The sums of a block, for one table. A thread sums the distances that are congruent to it, of
/// each those diagonals of the tiles, while they reach it: so all warps have as much to do in the
/// course of a few tiles, and nothing is handed on. All calls get the same slice and memory, which
/// are not kept, nor is the offset: registers are short where this is used.
template <class S>
class DiagonalSums {
 public:
  /// Before the first tile of some keys.
  __device__ void start() { sum_ = 0; }

  /// Adds a tile, the next one of the same keys: kLoop queries further on than the last. Key 0 and
  /// query 0 of it are at distance `offset`. By all threads, with a barrier between two calls; of
  /// warps that share rows the first one's parts count.
  __device__ void add(const DiagonalParts<S>& own, int offset, const DiagonalSlice& slice,
                      DiagonalShared<S>& shared) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int warp = thread / kWarp, group = thread % kWarp / 4, member = thread % 4;
    if (S::kRowWarps == kWarps || warp < S::kRowWarps) {
#pragma unroll
      for (int u = 0; u < DiagonalParts<S>::kCount; ++u)
#pragma unroll
        for (int b = 0; b < 2; ++b) {
          const int column = 2 * member + b, diagonal = 8 * (u - 1) + column - group;
          shared.parts[warp][column * kColumnStride + diagonal + kWarpRows - 1] = own.at[u][b];
        }
    }
    __syncthreads();
    const int slot = slot_at(offset), diagonal = slot - (S::kOwn - 1);  // column - row
    if (slot >= S::kOwn) sum_ = 0;  // the first tile that reaches this distance
    int w = (diagonal < 0 ? -diagonal : 0) / kWarpRows;  // the first warp that has it
    const float* part = &shared.parts[w][diagonal + w * kWarpRows + kWarpRows - 1];
#pragma unroll 1  // else the loads for all warps are in registers at once
    for (; w < S::kRowWarps && diagonal + w * kWarpRows < S::kLoop; ++w) {
#pragma unroll
      for (int column = 0; column < 8; ++column) sum_ += part[column * kColumnStride];
      part += DiagonalShared<S>::kWarpStride + kWarpRows;
    }
    if (slot < S::kLoop) flush(offset, slot, slice);  // the next tile does not reach it
  }

  /// After the last tile of some keys, if there was one, with its offset.
  __device__ void finish(int offset, const DiagonalSlice& slice) const {
    const int slot = slot_at(offset);
    if (slot >= S::kLoop && slot < S::kOwn + S::kLoop) flush(offset, slot, slice);
  }

 private:
  static constexpr int kColumnStride = DiagonalShared<S>::kColumnStride;

  // Which diagonal of the tile the thread has, from the lowest distance on: a tile further, that
  // with the same distance. The first of a warp, or half a warp, is a multiple of its size, so that
  // its threads do the same.
  __device__ static int slot_at(int offset) {
    static_assert(S::kOwn + S::kLoop <= kBlock && (kBlock & (kBlock - 1)) == 0);
    return (static_cast<int>(threadIdx.x) - (offset & -S::kLoop)) & (kBlock - 1);
  }

  // Of one thread for each distance, and between the keys lies a barrier, so the order is fixed.
  // Atomic all the same: the memory adds, and nobody waits for what was there.
  __device__ void flush(int offset, int slot, const DiagonalSlice& slice) const {
    const int d = offset + slot - (S::kOwn - 1);
    if (d >= 0 && d < slice.n) atomicAdd(&slice.sums[d], sum_);
  }

  float sum_ = 0;
};

}  // namespace farfield::attention_cuda
