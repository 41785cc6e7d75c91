#pragma once
// Small kernels that between them use each feature of engine/cuda/launch.h once. Each function
// copies its input to the device, runs one of them and returns what it left there.

#include <array>
#include <cstdint>
#include <vector>

namespace farfield::test_kernels {

/// Sums of 32 neighbours, by xor and by down; running sums, by up; the value of lane 3, by index.
/// The number of elements is a multiple of 256.
struct WarpResults {
  std::vector<float> sum_by_xor, sum_by_down, running_sum, third;
};
WarpResults warp_results(const std::vector<float>& x);

/// Sums of blocks of 256, the last one perhaps shorter, through shared memory.
std::vector<float> block_sums(const std::vector<float>& x);

/// x [rows, cols] to [cols, rows], by tiles in shared memory.
std::vector<float> transpose(const std::vector<float>& x, int rows, int cols);

/// How often each of n_bins values occurs, by atomics in dynamic shared memory and then outside.
std::vector<int> histogram(const std::vector<int>& x, int n_bins);

/// The largest element by atomicMax; the sum by atomicCAS on its bits; the sum in double.
struct AtomicResults {
  int largest;
  float sum;
  double double_sum;
};
AtomicResults atomic_results(const std::vector<int>& x);

/// a [m, k] times b [k, n] in bfloat16, sums in float32; m, n, k multiples of 16, 8, 16.
std::vector<float> matmul(const std::vector<float>& a, const std::vector<float>& b, int m, int n,
                          int k);

/// a b^T + a c by a warpgroup, of [64, 64] in bfloat16, sums in float32; empty on a device without
/// such products, or in a build without code for it.
std::vector<float> warpgroup_products(const std::vector<float>& a, const std::vector<float>& b,
                                      const std::vector<float>& c);

/// Whether this device, and the code of this build, have products of warpgroups and bulk copies.
bool has_products_of_warpgroups();

/// What bulk copies bring, box after box: rows [kRows, 64] of a head in bfloat16, kFloats floats
/// and kBytes more of them. Empty without such copies.
struct BulkCopies {
  static constexpr int kRows = 64, kFloats = 36, kBytes = 12;
  int n_batch, n_row, n_head;
  std::vector<float> rows;    ///< [n_batch, n_row, n_head, 64]
  std::vector<float> floats;  ///< of these a box
  std::vector<float> bytes;   ///< box i has those from 4 i on
  std::vector<int> places;    ///< of each box: row, head, batch; the first of floats
};
std::vector<float> bulk_copies(const BulkCopies& copies);

/// Four 8 x 8 matrices as load_matrices gives them to 32 lanes: 4 pairs for each lane.
std::vector<float> matrix_pairs(const std::vector<float>& x, bool is_transposed);

/// Neighbours rounded to bfloat16 by round_and_pack, and each by itself, the first in the lower
/// half. The number of elements is a multiple of 128.
struct RoundedPairs {
  std::vector<uint32_t> as_pair, one_by_one;
};
RoundedPairs rounded_pairs(const std::vector<float>& x);

/// 128 times 5 pieces of 4 numbers, through asynchronous copies to shared memory. Pieces
/// i < 4 of row r are left out where r + i is a multiple of 5.
std::vector<float> copied(const std::vector<float>& x);

/// Of each 32 neighbours: the mask of those above 0, whether any is, whether all are.
struct Votes {
  std::vector<unsigned> ballot;
  std::vector<int> any, all;
};
Votes votes(const std::vector<float>& x);

/// The number of each thread in the grid, x running fastest, noted by the thread itself.
std::vector<int> indices(std::array<unsigned, 3> grid, std::array<unsigned, 3> block);

}  // namespace farfield::test_kernels
