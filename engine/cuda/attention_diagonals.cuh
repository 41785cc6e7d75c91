#pragma once
// Sums over the diagonals of tiles [keys, queries], on which the distance is the same: gradients of
// tables by distance. A block adds up its tiles in a slice of memory of its own, always in the same
// order, and the slices are summed at the end.

#include "engine/cuda/attention_tile.cuh"

namespace farfield::attention_cuda {

// S below are BackwardSizes.

/// A thread's sums of a tile's diagonals: one for each difference of an 8-column piece and an 8-row
/// half, since elements that are 8 rows and 8 columns apart share a diagonal.
template <class S>
struct DiagonalParts {
  static constexpr int kHalves = 2 * S::kGroups;
  static constexpr int kCount = S::kLoop / 8 + kHalves - 1;
  float at[kCount][2] = {};

  /// Element x (mma.cuh) of piece n of a group.
  __device__ void add(int group, int n, int x, float value) { sum(group, n, x) += value; }
  /// The product of both, rounded once: the same sum in every kernel.
  __device__ void add_product(int group, int n, int x, float a, float b) {
    sum(group, n, x) = std::fma(a, b, sum(group, n, x));
  }

 private:
  __device__ float& sum(int group, int n, int x) {
    return at[n - x / 2 - 2 * group + kHalves - 1][x % 2];
  }
};

/// The parts of each warp, [diagonal][column % 8]: the sums of a diagonal's elements in these
/// columns, all in one row % 8. Some diagonals have none in some columns: zeros at first, and
/// always. The halves of a diagonal's eight change places from four to four diagonals, so that
/// eight threads that read halves of eight diagonals meet different banks.
template <class S>
struct alignas(16) DiagonalShared {
  static constexpr int kDiagonals = S::kLoop + S::kPartRows;  // one more than there are
  float parts[S::kRowWarps][kDiagonals * 8];

  /// Where the parts of columns 0 to 3 of a warp's diagonal begin, half 0, or 4 to 7.
  __device__ static int at(int diagonal, int half) {
    return diagonal * 8 + ((diagonal >> 2 & 1) ^ half) * 4;
  }

  /// By all threads, who wait for each other then.
  __device__ void clear() {
    for (int i = static_cast<int>(threadIdx.x); i < S::kRowWarps * kDiagonals * 8; i += kBlock)
      parts[i / (kDiagonals * 8)][i % (kDiagonals * 8)] = 0;
  }
  /// By all threads, of a block or a warpgroup; of warps that share rows the first one's parts
  /// count.
  __device__ void put(const DiagonalParts<S>& own, int thread) {
    const int warp = thread / kWarp, group = thread % kWarp / 4, member = thread % 4;
    if (S::kRowWarps < kWarps && warp >= S::kRowWarps) return;
#pragma unroll
    for (int b = 0; b < 2; ++b) {
      const int column = 2 * member + b;
      // Eight diagonals further on all lies 64 floats further on.
      float* const to = &parts[warp][at(column - group + 7, column / 4) + column % 4];
#pragma unroll
      for (int u = 0; u < DiagonalParts<S>::kCount; ++u)
        to[8 * (8 * (u - DiagonalParts<S>::kHalves + 1) + S::kPartRows - 8)] = own.at[u][b];
    }
  }
};

/// The slice of the table that a block sums, for distances [0, n).
struct DiagonalSlice {
  float* sums;
  int n;
};

/// The sums of a block, for one table. A thread sums the distances that are congruent to its index
/// modulo the number of threads, over the diagonals of all tiles that have this distance. So over a
/// few tiles all warps have the same work, and no sum passes from thread to thread. Of a tile with
/// more distances than threads it has two. All calls get the same slice and memory, which are not
/// kept, nor is the offset: registers are short where this is used.
template <class S>
class DiagonalSums {
 public:
  /// Before the first tile of some keys.
  __device__ void start() {
#pragma unroll
    for (float& sum : sums_) sum = 0;
  }

  /// Adds a tile, the next one of the same keys: kLoop queries further on than the last. Key 0 and
  /// query 0 of it are at distance `offset`. By all threads, when all have put their parts.
  __device__ void add(const DiagonalShared<S>& shared, int offset, const DiagonalSlice& slice,
                      int thread) {
#pragma unroll
    for (int k = 0; k < kOfThread; ++k)
      add_diagonal(sums_[k], slot_at(k, offset, thread), offset, slice, shared);
  }

  /// After the last tile of some keys, if there was one, with its offset.
  __device__ void finish(int offset, const DiagonalSlice& slice, int thread) const {
#pragma unroll
    for (int k = 0; k < kOfThread; ++k) {
      const int slot = slot_at(k, offset, thread);
      if (slot >= S::kLoop && slot < kSlots) flush(sums_[k], offset, slot, slice);
    }
  }

 private:
  static constexpr int kSlots = S::kOwn + S::kLoop;
  static constexpr int kOfThread = kSlots <= kBlock ? 1 : 2;  // distances

  // Which diagonal of the tile is the thread's k-th one, from the lowest distance on: a tile
  // further, that with the same distance. The first of a warp, or half a warp, is a multiple of its
  // size, so that its threads do the same.
  __device__ static int slot_at(int k, int offset, int thread) {
    constexpr int kAll = kOfThread * kBlock;
    static_assert(kSlots <= kAll && (kAll & (kAll - 1)) == 0);
    return (thread + k * kBlock - (offset & -S::kLoop)) & (kAll - 1);
  }
  __device__ static void add_diagonal(float& sum, int slot, int offset, const DiagonalSlice& slice,
                                      const DiagonalShared<S>& shared) {
    const int diagonal = slot - (S::kOwn - 1);  // column - row
    if (slot >= S::kOwn) sum = 0;               // the first tile that reaches this distance
    using Half = Vector<float, 4>;
    static_assert(S::kPartRows % 8 == 0, "halves lie in the same order for all warps");
    const float* const parts = shared.parts[0];
    constexpr int kStep = (DiagonalShared<S>::kDiagonals + S::kPartRows) * 8;
    const int in_first = diagonal + S::kPartRows - 1;  // of the first warp, if that has it
    const int at_first = DiagonalShared<S>::at(in_first, 0);
    // Strips whose loads are in flight together.
    constexpr int kAtOnce = S::kStripsAtOnce < S::kRowWarps ? S::kStripsAtOnce : S::kRowWarps;
    static_assert(S::kRowWarps % kAtOnce == 0);
#pragma unroll
    for (int w = 0; w < S::kRowWarps; w += kAtOnce) {
      Half halves[kAtOnce][2];
      bool is_there[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const auto in_warp = static_cast<unsigned>(in_first + (w + i) * S::kPartRows);
        is_there[i] = in_warp < DiagonalShared<S>::kDiagonals - 1;
      }
      if (kAtOnce == 1 && !is_there[0]) continue;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = is_there[i] ? at_first + (w + i) * kStep : 0;
        halves[i][0] = *reinterpret_cast<const Half*>(parts + at);
        halves[i][1] = *reinterpret_cast<const Half*>(parts + (at ^ 4));
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const auto& [a, b] = halves[i];
        const float of_warp = ((a.at[0] + a.at[1]) + (a.at[2] + a.at[3])) +
                              ((b.at[0] + b.at[1]) + (b.at[2] + b.at[3]));
        if (is_there[i]) sum += of_warp;
      }
    }
    if (slot < S::kLoop) flush(sum, offset, slot, slice);  // the next tile does not reach it
  }

  // One thread per distance, and a barrier between the keys, so the order is fixed. The add is
  // atomic all the same: the memory adds, and no thread waits for the old value.
  __device__ static void flush(float sum, int offset, int slot, const DiagonalSlice& slice) {
    const int d = offset + slot - (S::kOwn - 1);
    if (d >= 0 && d < slice.n) atomicAdd(&slice.sums[d], sum);
  }

  float sums_[kOfThread] = {};
};

}  // namespace farfield::attention_cuda
