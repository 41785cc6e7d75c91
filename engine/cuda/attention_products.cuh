#pragma once
// Matrix products of warps with tiles in shared memory. A warp holds groups of 16 rows of a
// product: lane = 4 group + member has, of each 16 x 8 piece, rows group and group + 8 (i / 2),
// columns 2 member + i % 2 (mma.cuh).

#include "engine/cuda/attention_tile.cuh"
#include "engine/cuda/load_matrix.cuh"
#include "engine/cuda/mma.cuh"
#include "engine/cuda/pack.cuh"

namespace farfield::attention_cuda {

/// bfloat16 operands go to the tensor cores as they are; a float32 goes as the sum of three
/// bfloat16, hi + mid + lo, which is exact to about 2^-24.
template <class T>
inline constexpr int kParts = std::is_same_v<T, BFloat16> ? 1 : 3;

template <class T, int kRegisters>
struct Fragment {
  uint32_t part[kParts<T>][kRegisters];
};
template <class T>
using Left = Fragment<T, 4>;  ///< 16 x 16, the left factor
template <class T>
using Right = Fragment<T, 2>;  ///< 16 x 8, the right factor

/// Register r holds these two.
template <class T, int kRegisters>
__device__ void set(Fragment<T, kRegisters>& f, int r, float first, float second) {
#pragma unroll
  for (int part = 0; part < kParts<T>; ++part) {
    const uint32_t packed = round_and_pack(first, second);
    f.part[part][r] = packed;
    first -= first_of(packed);
    second -= second_of(packed);
  }
}

/// sum += left right. Of the nine products of parts, the six that reach 2^-24 of the result, the
/// small ones first. kSwapped: in the order that the same product has with left and right
/// exchanged, so that its transpose is the same to the bit.
template <bool kSwapped = false, class T>
__device__ void multiply(float (&sum)[4], const Left<T>& left, const Right<T>& right) {
  if constexpr (kParts<T> == 1) {
    mma_m16n8k16(sum, left.part[0], right.part[0], sum);
  } else {
    const auto add = [&](int a, int b) {
      mma_m16n8k16(sum, left.part[kSwapped ? b : a], right.part[kSwapped ? a : b], sum);
    };
    add(2, 0);
    add(0, 2);
    add(1, 1);
    add(1, 0);
    add(0, 1);
    add(0, 0);
  }
}

/// The same for a sum over many tiles. Tensor cores drop the bits that do not fit, and over a long
/// sum of one sign that is a bias (3e-5 of it over 4096 keys, where each product is cut to
/// float32). So the product of float32 parts is made apart and added with rounding; a bfloat16
/// result does not show it.
template <class T>
__device__ void multiply_apart(float (&sum)[4], const Left<T>& left, const Right<T>& right) {
  if constexpr (kParts<T> == 1) {
    multiply(sum, left, right);
  } else {
    float product[4] = {};
    multiply(product, left, right);
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[i] += product[i];
  }
}

/// The 16 x 16 piece of a tile whose first element is at [row][column].
template <class T, int D, int R>
__device__ Left<T> load_left(const Tile<T, D, R>& tile, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  Left<T> f;
  if constexpr (kParts<T> == 1) {
    load_matrices(f.part[0], &tile.at[row + lane % 16][column + lane / 16 * 8]);
  } else {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const T* const x = &tile.at[row + lane / 4 + r % 2 * 8][column + lane % 4 * 2 + r / 2 * 8];
      set(f, r, x[0], x[1]);
    }
  }
  return f;
}

/// Two right factors next to each other, 16 x 16 together. Element [k][n] is the tile's element
/// [row + n][column + k].
template <class T, int D, int R>
__device__ void load_rights(Right<T> (&f)[2], const Tile<T, D, R>& tile, int row, int column) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if constexpr (kParts<T> == 1) {
    uint32_t r[4];
    load_matrices(r, &tile.at[row + lane % 8 + lane / 16 * 8][column + lane / 8 % 2 * 8]);
#pragma unroll
    for (int i = 0; i < 4; ++i) f[i / 2].part[0][i % 2] = r[i];
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const T* const x = &tile.at[row + lane / 4 + i / 2 * 8][column + lane % 4 * 2 + i % 2 * 8];
      set(f[i / 2], i % 2, x[0], x[1]);
    }
  }
}

/// The same, but element [k][n] is the tile's element [row + k][column + n].
template <class T, int D, int R>
__device__ void load_rights_transposed(Right<T> (&f)[2], const Tile<T, D, R>& tile, int row,
                                       int column) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  if constexpr (kParts<T> == 1) {
    uint32_t r[4];
    load_matrices_transposed(r, &tile.at[row + lane % 16][column + lane / 16 * 8]);
#pragma unroll
    for (int i = 0; i < 4; ++i) f[i / 2].part[0][i % 2] = r[i];
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int k = row + lane % 4 * 2 + i % 2 * 8, n = column + lane / 4 + i / 2 * 8;
      set(f[i / 2], i % 2, tile.at[k][n], tile.at[k + 1][n]);
    }
  }
}

/// The left factors of a warp's rows of a tile, kGroups times 16 from `first` on: kept in registers
/// from keep() on, which is called when the tile is there, or read each time.
template <bool kIsKept, int kGroups, class T, int D, int R>
class OwnFactors {
 public:
  __device__ OwnFactors(const Tile<T, D, R>& tile, int first) : tile_(tile), first_(first) {}

  __device__ void keep() {
    if constexpr (kIsKept) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g)
#pragma unroll
        for (int k = 0; k < D; k += 16) kept_[g][k / 16] = read(g, k);
    }
  }
  /// The piece of group g that begins with column k.
  __device__ Left<T> operator()(int g, int k) const {
    if constexpr (kIsKept)
      return kept_[g][k / 16];
    else
      return read(g, k);
  }

 private:
  __device__ Left<T> read(int g, int k) const {
    return load_left(tile_, first_ + g * kWarpRows, k);
  }

  const Tile<T, D, R>& tile_;
  int first_;
  Left<T> kept_[kIsKept ? kGroups : 1][kIsKept ? D / 16 : 1];
};
template <bool kIsKept, int kGroups, class T, int D, int R>
__device__ auto own_factors(const Tile<T, D, R>& tile, int first) {
  return OwnFactors<kIsKept, kGroups, T, D, R>(tile, first);
}

/// sums[g][:, n] = or += dot products of the 16 rows of group g with rows `row` + n of a tile;
/// left(g, k) is the piece of these 16 rows that begins with column k.
template <bool kSwapped, int D, int kGroups, int kPieces, class F, class T, int R>
__device__ void multiply_by_rows(float (&sums)[kGroups][kPieces][4], const F& left,
                                 const Tile<T, D, R>& tile, int row) {
#pragma unroll
  for (int k = 0; k < D; k += 16) {
    Left<T> a[kGroups];
#pragma unroll
    for (int g = 0; g < kGroups; ++g) a[g] = left(g, k);
#pragma unroll
    for (int n = 0; n < kPieces; n += 2) {
      Right<T> b[2];
      load_rights(b, tile, row + 8 * n, k);
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        multiply<kSwapped>(sums[g][n], a[g], b[0]);
        multiply<kSwapped>(sums[g][n + 1], a[g], b[1]);
      }
    }
  }
}

/// A lane's elements of 16 kGroups rows by 8 kPieces columns, from product results to left factors,
/// whose layouts are the same. bfloat16 is rounded at once, which takes half of the registers; the
/// three parts of a float32 would take more.
template <class T, int kGroups, int kPieces>
class Factors {
 public:
  /// Elements x - 1 and x (mma.cuh) of a piece, x odd.
  __device__ void set_pair(int group, int piece, int x, float first, float second) {
    if constexpr (kParts<T> == 1) {
      set(left_[group][piece / 2], piece % 2 * 2 + x / 2, first, second);
    } else {
      values_[group][piece][x - 1] = first;
      values_[group][piece][x] = second;
    }
  }
  /// The 16 x 16 factor of pieces 2 k and 2 k + 1.
  __device__ Left<T> left(int group, int k) const {
    if constexpr (kParts<T> == 1) {
      return left_[group][k];
    } else {
      Left<T> f;
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float* const pair = &values_[group][2 * k + r / 2][r % 2 * 2];
        set(f, r, pair[0], pair[1]);
      }
      return f;
    }
  }

 private:
  Left<T> left_[kParts<T> == 1 ? kGroups : 1][kPieces / 2];
  float values_[kParts<T> == 1 ? 1 : kGroups][kPieces][4];
};

/// For each group: sums [16, kColumns] += x rows, with x [16, 8 kPieces] and the rows of a tile,
/// from `column` on. kIsApart: multiply_apart().
template <int kColumns, bool kIsApart = true, int kGroups, int kPieces, class T, int D, int R>
__device__ void add_weighted_rows(float (&sums)[kGroups][kColumns / 8][4],
                                  const Factors<T, kGroups, kPieces>& x, const Tile<T, D, R>& tile,
                                  int column) {
#pragma unroll
  for (int k = 0; k < kPieces / 2; ++k) {
    Left<T> a[kGroups];
#pragma unroll
    for (int g = 0; g < kGroups; ++g) a[g] = x.left(g, k);
#pragma unroll
    for (int n = 0; n < kColumns; n += 16) {
      Right<T> b[2];
      load_rights_transposed(b, tile, 16 * k, column + n);
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        if constexpr (kIsApart) {
          multiply_apart(sums[g][n / 8], a[g], b[0]);
          multiply_apart(sums[g][n / 8 + 1], a[g], b[1]);
        } else {
          multiply(sums[g][n / 8], a[g], b[0]);
          multiply(sums[g][n / 8 + 1], a[g], b[1]);
        }
      }
    }
  }
}

}  // namespace farfield::attention_cuda
