#pragma once
// Tiles of rows of q, k, v or their gradients in shared memory, and how the warps of a block share
// them.

#include "engine/cuda/copy_async.cuh"
#include "engine/cuda/elements.cuh"
#include "engine/cuda/shared.cuh"
#include "engine/cuda/warp.cuh"

namespace farfield::attention_cuda {

inline constexpr int kBlock = 128;                ///< threads
inline constexpr int kWarps = kBlock / kWarp;     ///< of a block
inline constexpr int kWarpRows = 16;              ///< of a product, held by a warp
inline constexpr int kTile = kWarps * kWarpRows;  ///< rows of a tile with a group for each warp

/// Shared memory limits of a block on compute capability 8.6 and 8.9, and on 8.0.
inline constexpr size_t kSmallShared = size_t{99} << 10, kLargeShared = size_t{163} << 10;

/// How the warps of a block share its own tile, of rows of D elements, and the sums that are made
/// of it. kGroupsOfRows: a factor of the tiles that the block walks, once read, serves as many
/// products.
template <int D, int kGroupsOfRows, int kThreadsOfBlock = kBlock>
struct WarpSizes {
  static constexpr int kThreads = kThreadsOfBlock, kAllWarps = kThreads / kWarp;  ///< of a block
  static constexpr int kGroups = kGroupsOfRows;
  static constexpr int kPartRows = kGroups * kWarpRows;       ///< of a warp
  static constexpr int kColumns = D < 128 ? D : 128;          ///< of the sums of a warp
  static constexpr int kRowWarps = kAllWarps * kColumns / D;  ///< the others take further columns
  static constexpr int kOwn = kRowWarps * kPartRows;          ///< rows of the block's own tile

  /// Where the sums of this warp begin in the own tile. Warps that share rows compute the same
  /// scores.
  __device__ static int first_row() {
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    return (kRowWarps == kAllWarps ? warp : warp % kRowWarps) * kPartRows;
  }
  __device__ static int first_column() {
    return kRowWarps == kAllWarps ? 0
                                  : static_cast<int>(threadIdx.x) / (kRowWarps * kWarp) * kColumns;
  }
};
template <class T, int D>
inline constexpr int kRowBytes = static_cast<int>(sizeof(T)) * D;

/// Rows of head_dim elements, zeros up to D. The rest of a row keeps neighbours out of each other's
/// banks: rows begin 16 (float32: 32) bytes further on than a multiple of 128. So cp.async takes 10
/// accesses for 512 bytes instead of 4; swizzled rows would take 4, but their addresses need 8 to
/// 30 registers more, and kernels spill.
template <class T, int D, int R>
struct alignas(16) Tile {
  static constexpr int kStride = D + 8;
  T at[R][kStride];
};

/// Rows in device memory.
template <class T>
struct Rows {
  T* first;
  int stride;  ///< elements from one row to the next
  int count;   ///< rows that are there
  int head_dim;
  bool is_aligned;  ///< whether 16 bytes may be moved at once
};

/// threadIdx.x, read anew by each call: what follows from it is computed again for each tile, and
/// takes no register of a kernel between two of them.
__device__ inline int thread_read_anew() {
#ifdef __CUDA_ARCH__
  int thread;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
  return thread;
#else
  return static_cast<int>(threadIdx.x);
#endif
}

/// x, of which the compiler knows nothing: what follows from it is computed again, and takes no
/// register before.
__device__ inline int computed_anew(int x) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(x));
#endif
  return x;
}

/// Fills a tile from rows [0, R), by all threads of a block; missing elements are 0. kIsAsync: all
/// threads wait_for_copies(), and then for each other, before they read the tile.
template <bool kIsAsync = false, class T, int D, int R>
__device__ void load_tile(Tile<T, D, R>& tile, const Rows<const T>& rows) {
  constexpr int kN = kPieceSize<T>, kPieces = D / kN;
  const int thread = thread_read_anew();
  if (rows.is_aligned) {
    using Piece = Vector<T, kN>;
    constexpr int kAtOnce = kBlock / kPieces;  // rows; each thread has a column of its own
    static_assert(kBlock % kPieces == 0 && R % kAtOnce == 0);
    // Without a sign a division by a power of 2 is a shift.
    const auto first = static_cast<int>(static_cast<unsigned>(thread) / kPieces);
    const auto column = static_cast<int>(static_cast<unsigned>(thread) % kPieces * kN);
    const T* from = rows.first + (first * rows.stride + column);  // read where it is there
    const int step = kAtOnce * rows.stride;
#pragma unroll 4
    for (int k = 0; k < R / kAtOnce; ++k, from += step) {
      const int row = first + k * kAtOnce;
      const bool is_there = row < rows.count && column < rows.head_dim;
      auto* const to = reinterpret_cast<Piece*>(&tile.at[row][column]);
      if constexpr (kIsAsync)
        copy_async<16>(to, from, is_there);
      else
        *to = is_there ? *reinterpret_cast<const Piece*>(from) : Piece{};
    }
  } else {
#pragma unroll 1
    for (int i = thread; i < R * D; i += kBlock) {
      const int row = i / D, column = i % D;
      const bool is_there = row < rows.count && column < rows.head_dim;
      tile.at[row][column] = is_there ? rows.first[row * rows.stride + column] : T(0.0f);
    }
  }
}

/// load_tile<true>() of one pair of tiles after another, the same rows of two tensors: common
/// values are computed once. Both have as many rows, which are aligned.
template <class T, int D>
class TileLoader {
 public:
  __device__ TileLoader(const Rows<const T>& x, const Rows<const T>& y) {
    const auto thread = static_cast<unsigned>(thread_read_anew());
    const auto first = static_cast<int>(thread / kPieces);
    const auto column = static_cast<int>(thread % kPieces * kN);
    x_ = x.first + (static_cast<int64_t>(first) * x.stride + column);
    y_ = y.first + (static_cast<int64_t>(first) * y.stride + column);
    n_left_ = column < x.head_dim ? x.count - first : 0;
    to_ = first * kStride + column;
  }

  /// Rows [row, row + R), with the strides of the rows.
  template <int R>
  __device__ void load(Tile<T, D, R>& x, int x_stride, Tile<T, D, R>& y, int y_stride,
                       int row) const {
    load_one(x, x_ + static_cast<int64_t>(row) * x_stride, x_stride, row);
    load_one(y, y_ + static_cast<int64_t>(row) * y_stride, y_stride, row);
  }

 private:
  static constexpr int kN = kPieceSize<T>, kPieces = D / kN;
  static constexpr int kAtOnce = kBlock / kPieces;  // rows
  static constexpr int kStride = Tile<T, D, 1>::kStride;

  template <int R>
  __device__ void load_one(Tile<T, D, R>& tile, const T* from, int stride, int row) const {
    static_assert(R % kAtOnce == 0);
    T* const to = &tile.at[0][0] + to_;
#pragma unroll
    for (int k = 0; k < R; k += kAtOnce)
      copy_async<16>(to + k * kStride, from + k * stride, row + k < n_left_);
  }

  const T *x_, *y_;
  int n_left_, to_;
};

/// Stores kRows x kColumns elements of a tile from [first][first_column] on, by the warp that wrote
/// them there.
template <int kRows, int kColumns, class T, int D, int R>
__device__ void store_warp_rows(const Tile<T, D, R>& tile, int first, int first_column,
                                const Rows<T>& rows) {
  constexpr int kN = kPieceSize<T>, kPieces = kColumns / kN;
  const int lane = thread_read_anew() % kWarp;
  if (rows.is_aligned) {
    using Piece = Vector<T, kN>;
    for (int i = lane; i < kRows * kPieces; i += kWarp) {
      const int row = first + i / kPieces, column = first_column + i % kPieces * kN;
      if (row < rows.count && column < rows.head_dim)
        *reinterpret_cast<Piece*>(rows.first + row * rows.stride + column) =
            *reinterpret_cast<const Piece*>(&tile.at[row][column]);
    }
  } else {
#pragma unroll 1
    for (int i = lane; i < kRows * kColumns; i += kWarp) {
      const int row = first + i / kColumns, column = first_column + i % kColumns;
      if (row < rows.count && column < rows.head_dim)
        rows.first[row * rows.stride + column] = tile.at[row][column];
    }
  }
}

/// Rounds a warp's 16 x kColumns sums, times a factor for each of a lane's two rows, into a tile
/// from [row][column] on.
template <int kColumns, class T, int D, int R>
__device__ void put_sums(const float (&sums)[kColumns / 8][4], float first_factor,
                         float second_factor, Tile<T, D, R>& tile, int row, int column) {
  const int lane = thread_read_anew() % kWarp;
#pragma unroll
  for (int n = 0; n < kColumns / 8; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      tile.at[row + lane / 4 + i / 2 * 8][column + 8 * n + lane % 4 * 2 + i % 2] =
          narrow<T>(sums[n][i] * (i / 2 == 0 ? first_factor : second_factor));
}

}  // namespace farfield::attention_cuda
