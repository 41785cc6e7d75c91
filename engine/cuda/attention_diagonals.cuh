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
};

template <class S>
struct DiagonalShared {
  // [warp][difference][column % 8][row % 8], the strides such that lanes meet different banks.
  static constexpr int kColumn = 12, kDifference = 104;
  float parts[S::kRowWarps][DiagonalParts<S>::kCount * kDifference];
};

/// The slice of the table that a block sums, for distances [0, n).
struct DiagonalSlice {
  float* sums;
  int n;
};

/// The sums of a block, for one table: a window of distances that moves with the tiles. All calls
/// get the same slice and memory, which are not kept, nor is the offset: registers are short where
/// this is used.
template <class S>
class DiagonalSums {
 public:
  struct Shared {
    float window[S::kOwn + S::kLoop];
  };

  /// Before the first tile of some keys.
  __device__ void start() { sum_ = 0; }

  /// Adds a tile, the next one of the same keys: kLoop queries further on than the last. Key 0 and
  /// query 0 of it are at distance `offset`. By all threads, with a barrier between two calls; of
  /// warps that share rows the first one's parts count.
  __device__ void add(const DiagonalParts<S>& own, int offset, const DiagonalSlice& slice,
                      DiagonalShared<S>& parts, Shared& shared) {
    const auto thread = static_cast<int>(threadIdx.x);
    const int warp = thread / kWarp, group = thread % kWarp / 4, member = thread % 4;
    if (S::kRowWarps == kWarps || warp < S::kRowWarps) {
#pragma unroll
      for (int u = 0; u < kCount; ++u)
#pragma unroll
        for (int b = 0; b < 2; ++b)
          parts.parts[warp][u * kDifference + (2 * member + b) * kColumn + group] = own.at[u][b];
    }
    if (thread < S::kOwn + S::kLoop) shared.window[thread] = sum_;
    __syncthreads();
    const int diagonal = thread - (S::kOwn - 1);  // of the tile: column - row
    sum_ = thread < S::kOwn ? shared.window[thread + S::kLoop] : 0;
#pragma unroll 1  // else the loads for all warps are in registers at once
    for (int w = 0; w < S::kRowWarps; ++w) {
      const int d = diagonal + w * kWarpRows;  // of the warp's 16 rows
      if (d <= -kWarpRows || d >= S::kLoop) continue;
#pragma unroll
      for (int column = 0; column < 8; ++column) {
        const int row = (column - d) & 7, u = (d + row - column) / 8 + 1;
        if (u >= 0 && u < kCount) sum_ += parts.parts[w][u * kDifference + column * kColumn + row];
      }
    }
    if (thread < S::kLoop) flush(offset, slice);  // the next tile does not reach these distances
  }

  /// After the last tile of some keys, if there was one, with its offset.
  __device__ void finish(int offset, const DiagonalSlice& slice) const {
    if (static_cast<int>(threadIdx.x) >= S::kLoop) flush(offset, slice);
  }

 private:
  static constexpr int kCount = DiagonalParts<S>::kCount;
  static constexpr int kColumn = DiagonalShared<S>::kColumn;
  static constexpr int kDifference = DiagonalShared<S>::kDifference;

  // Between two threads that add to the same distance lies a barrier, so the order is fixed. Atomic
  // all the same: the memory adds, and nobody waits for what was there.
  __device__ void flush(int offset, const DiagonalSlice& slice) const {
    const int d = offset + static_cast<int>(threadIdx.x) - (S::kOwn - 1);
    if (d >= 0 && d < slice.n) atomicAdd(&slice.sums[d], sum_);
  }

  float sum_ = 0;  // of the last tile's diagonal `thread`, counted from the lowest distance on
};

}  // namespace farfield::attention_cuda
