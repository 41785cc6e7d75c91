#pragma once

#include <cstdint>
#include <string_view>

namespace farfield::bench {

/// Parts of a kernel's machine code. A number from 0 on counts the innermost loops in order.
inline constexpr int kWhole = -1;     ///< all instructions, with branches that are not taken
inline constexpr int kOutside = -2;   ///< instructions outside of innermost loops
inline constexpr int kWayTaken = -3;  ///< the blocks that a tile runs through, added up by hand

/// The instructions that a thread issues for n_element elements: in one pass of a loop, or in all
/// of a kernel without a loop.
struct KernelWork {
  std::string_view name;  ///< of the kernel; a name has one row or more
  std::string_view file, kernel;
  int part;
  double n_element;  ///< pairs of a query and a key in attention
  double instructions, fp32;
  /// Of kWayTaken: instructions of the loop around the way (the smallest loop with tensor
  /// instructions) at the time of the count. If the loop changes, the way must be counted again.
  double loop = 0, loop_fp32 = 0;
  /// Of kWayTaken: accesses of shared memory, of 128 bytes each, that a warp needs meanwhile.
  double shared = 0;
};

/// Kernels of attention, as nvcc names them: heads of 64 components, by warps, two groups of rows
/// each, or by warpgroups. The pass over keys has three kernels: for gradients of no table, of a
/// bias, or of a bias and a weight.
inline constexpr std::string_view kForward =
    "attention_forward_kernel<BFloat16, 64, PlainScores<BFloat16> >";
inline constexpr std::string_view kKeys =
    "attention_backward_kernel<(Side)0, (Sums)0, (Tables)0, 2, BFloat16, 64, PlainScores<BFloat16> "
    ">";
inline constexpr std::string_view kKeysOfBias =
    "attention_backward_kernel<(Side)0, (Sums)0, (Tables)1, 2, BFloat16, 64, PlainScores<BFloat16> "
    ">";
inline constexpr std::string_view kKeysOfBoth =
    "attention_backward_kernel<(Side)0, (Sums)0, (Tables)3, 2, BFloat16, 64, PlainScores<BFloat16> "
    ">";
inline constexpr std::string_view kQueries =
    "attention_backward_kernel<(Side)1, (Sums)0, (Tables)0, 2, BFloat16, 64, PlainScores<BFloat16> "
    ">";
inline constexpr std::string_view kWarpgroupForward =
    "attention_forward_warpgroup_kernel<64, PlainScores<BFloat16> >";
inline constexpr std::string_view kWarpgroupKeys =
    "attention_backward_warpgroup_kernel<(Side)0, 64, (Tables)0, false, PlainScores<BFloat16> >";
inline constexpr std::string_view kWarpgroupKeysOfBias =
    "attention_backward_warpgroup_kernel<(Side)0, 64, (Tables)1, false, PlainScores<BFloat16> >";
inline constexpr std::string_view kWarpgroupKeysOfBoth =
    "attention_backward_warpgroup_kernel<(Side)0, 64, (Tables)3, false, PlainScores<BFloat16> >";
inline constexpr std::string_view kWarpgroupQueries =
    "attention_backward_warpgroup_kernel<(Side)1, 64, (Tables)0, false, PlainScores<BFloat16> >";
inline constexpr std::string_view kForwardOfRowBias =
    "attention_forward_kernel<BFloat16, 64, RowBiasScores<BFloat16> >";
inline constexpr std::string_view kKeysOfRowBias =
    "attention_backward_kernel<(Side)0, (Sums)0, (Tables)6, 2, BFloat16, 64, "
    "RowBiasScores<BFloat16> >";
inline constexpr std::string_view kQueriesOfRowBias =
    "attention_backward_kernel<(Side)1, (Sums)0, (Tables)0, 2, BFloat16, 64, "
    "RowBiasScores<BFloat16> >";

/// Source    machine code for sm_90 by nvcc 13.0.88, as tests/static_costs counts it: its test
///           kernel_work holds every row against tests/static_costs/baseline.csv and prints the
///           numbers that a row should have; n_element comes from the kernel's source. Branches
///           that are not taken are counted: an upper bound. Attention is different, since a tile
///           goes one way of many through the loop over tiles. The counted way is the way of a tile
///           with a bias, or both tables, and no hidden pair, while the next tile is loaded, 16
///           bytes at a time. It is counted by hand, by the blocks from the loop's first
///           instruction back to it; blocks that only some warps run count by their share. With a
///           learned bias the four warps read 8 strips of diagonals, and one of 8 parts of a warp's
///           turn adds to the slice. With a learned weight too, each warp reads 8 strips for each
///           table, six in one access since no lane has them. In a warpgroup each warp reads all 4
///           strips, and two of four warps add. The forward pass by warps is counted with a new
///           largest score in each tile; by warpgroups, with no score far above the others. The
///           test holds the instructions of the whole loop over tiles, and fails when they change.
///           shared: by hand too. A load or store takes 1 access, 2 of 8 bytes a lane, 4 of 16
///           bytes; ldmatrix.x4 takes 4; cp.async of 16 bytes 10, as Nsight Compute measured it on
///           an H200: rows of tiles begin beside multiples of 128 bytes, where 4 would be enough;
///           bulk copies one for 128 bytes. Counted this way, a kernel by warps with 233 accesses
///           for a tile of 16 x 32 needs 2.80 million cycles of a multiprocessor for the pass over
///           keys at 8192 tokens; 2.83 million were measured.
inline constexpr KernelWork kKernelWork[] = {
    // sum of exponentials and gradient
    {"cross entropy", "cross_entropy.cu",
     "cross_entropy_kernel<float, BFloat16, RowSize<1024, 0> >", 0, 4, 69, 28},
    {"cross entropy", "cross_entropy.cu",
     "cross_entropy_kernel<float, BFloat16, RowSize<1024, 0> >", 8, 4, 86, 20},
    {"cross entropy of bfloat16", "cross_entropy.cu",
     "cross_entropy_kernel<BFloat16, BFloat16, RowSize<1024, 0> >", 0, 8, 133, 44},
    {"cross entropy of bfloat16", "cross_entropy.cu",
     "cross_entropy_kernel<BFloat16, BFloat16, RowSize<1024, 0> >", 8, 8, 170, 32},
    // copies of 16 bytes, sum of exponentials and gradient
    {"kept cross entropy", "cross_entropy.cu",
     "cross_entropy_kernel<float, BFloat16, SharedRowSize<true> >", 0, 4, 20, 0},
    {"kept cross entropy", "cross_entropy.cu",
     "cross_entropy_kernel<float, BFloat16, SharedRowSize<true> >", 4, 4, 40, 24},
    {"kept cross entropy", "cross_entropy.cu",
     "cross_entropy_kernel<float, BFloat16, SharedRowSize<true> >", 11, 4, 46, 16},
    {"kept cross entropy of bfloat16", "cross_entropy.cu",
     "cross_entropy_kernel<BFloat16, BFloat16, SharedRowSize<true> >", 0, 8, 19, 0},
    {"kept cross entropy of bfloat16", "cross_entropy.cu",
     "cross_entropy_kernel<BFloat16, BFloat16, SharedRowSize<true> >", 4, 8, 72, 44},
    {"kept cross entropy of bfloat16", "cross_entropy.cu",
     "cross_entropy_kernel<BFloat16, BFloat16, SharedRowSize<true> >", 11, 8, 84, 32},
    {"attention forward", "attention_forward_plain.cu", kForward, kWayTaken, 64, 833, 356, 1636,
     816, 233},
    {"attention forward, a bias and a weight", "attention_forward_plain.cu", kForward, kWayTaken,
     64, 917, 420, 1636, 816, 255},
    {"attention backward, keys", "attention_backward_keys_plain.cu", kKeys, kWayTaken, 32, 617, 160,
     2230, 1000, 282},
    {"attention backward, keys and a bias", "attention_backward_keys_plain.cu", kKeysOfBias,
     kWayTaken, 32, 782.5, 210, 1137, 322, 313},
    {"attention backward, keys, a bias and a weight", "attention_backward_keys_plain.cu",
     kKeysOfBoth, kWayTaken, 16, 735.5, 276, 1074, 308, 265},
    {"attention backward, queries", "attention_backward_queries_plain.cu", kQueries, kWayTaken, 32,
     473, 128, 1853, 868, 169},
    {"attention backward, queries, a bias and a weight", "attention_backward_queries_plain.cu",
     kQueries, kWayTaken, 32, 549, 192, 1853, 868, 183},
    {"attention forward by warpgroups", "attention_forward_warpgroup.cu", kWarpgroupForward,
     kWayTaken, 32, 323.25, 142, 816, 415, 84},
    {"attention forward by warpgroups, a bias and a weight", "attention_forward_warpgroup.cu",
     kWarpgroupForward, kWayTaken, 32, 372.25, 174, 816, 415, 102},
    {"attention backward by warpgroups, keys", "attention_backward_keys_warpgroup.cu",
     kWarpgroupKeys, kWayTaken, 32, 400.5, 128, 1859, 865, 181},
    {"attention backward by warpgroups, keys and a bias", "attention_backward_keys_warpgroup.cu",
     kWarpgroupKeysOfBias, kWayTaken, 32, 531, 193, 758, 257, 231},
    {"attention backward by warpgroups, keys, a bias and a weight",
     "attention_backward_keys_warpgroup.cu", kWarpgroupKeysOfBoth, kWayTaken, 32, 723.25, 322, 963,
     386, 299},
    {"attention backward by warpgroups, queries", "attention_backward_queries_warpgroup.cu",
     kWarpgroupQueries, kWayTaken, 32, 352.25, 128, 1650, 865, 136},
    {"attention backward by warpgroups, queries, a bias and a weight",
     "attention_backward_queries_warpgroup.cu", kWarpgroupQueries, kWayTaken, 32, 433.75, 192, 1650,
     865, 154},
    // a row bias: a tile in one segment, and in several, each piece in one; in a piece with a knot
    // the extra work for the first knot, and for each further knot; the sums of a segment by all
    // lanes
    {"attention forward and a row bias", "attention_forward_row_bias.cu", kForwardOfRowBias,
     kWayTaken, 64, 950, 437, 2603, 1442, 233},
    {"attention forward and a row bias of several segments", "attention_forward_row_bias.cu",
     kForwardOfRowBias, kWayTaken, 64, 1060, 465, 2603, 1442, 275},
    {"attention forward, first knot", "attention_forward_row_bias.cu", kForwardOfRowBias, kWayTaken,
     8, 49, 36, 2603, 1442},
    {"attention forward, further knot", "attention_forward_row_bias.cu", kForwardOfRowBias,
     kWayTaken, 8, 42, 32, 2603, 1442},
    {"attention backward, keys and a row bias", "attention_backward_keys_row_bias.cu",
     kKeysOfRowBias, kWayTaken, 16, 671, 141, 1310, 434, 212},
    {"attention backward, keys and a row bias of several segments",
     "attention_backward_keys_row_bias.cu", kKeysOfRowBias, kWayTaken, 16, 685, 141, 1310, 434,
     218},
    {"attention backward, keys, first knot", "attention_backward_keys_row_bias.cu", kKeysOfRowBias,
     kWayTaken, 8, 47.5, 38, 1310, 434, 2},
    {"attention backward, keys, further knot", "attention_backward_keys_row_bias.cu",
     kKeysOfRowBias, kWayTaken, 8, 44, 32, 1310, 434, 2},
    {"attention backward, queries and a row bias", "attention_backward_queries_row_bias.cu",
     kQueriesOfRowBias, kWayTaken, 32, 686, 235, 2926, 1083, 228},
    {"attention backward, queries and a row bias of several segments",
     "attention_backward_queries_row_bias.cu", kQueriesOfRowBias, kWayTaken, 32, 915, 247, 2926,
     1083, 288},
    {"attention backward, queries, first knot", "attention_backward_queries_row_bias.cu",
     kQueriesOfRowBias, kWayTaken, 8, 214, 116, 2926, 1083, 12},
    {"attention backward, queries, further knot", "attention_backward_queries_row_bias.cu",
     kQueriesOfRowBias, kWayTaken, 8, 144, 80, 2926, 1083, 12},
    {"sums of a segment", "attention_backward_queries_row_bias.cu", kQueriesOfRowBias, kWayTaken, 1,
     76, 15, 2926, 1083, 4},
    // a unit of q and one of k, of 16 components each; the gradient of either
    {"turned heads", "split_heads.cu", "turn_heads_kernel<8, BFloat16>", kWhole, 16, 528, 144},
    {"heads turned back", "attention_backward_keys_plain.cu", kKeys, 8, 16, 241, 72},
    {"GELU", "pointwise.cu", "map_kernel<Gelu, BFloat16, BFloat16>", kWhole, 8, 226, 104},
    {"GELU", "linear.cu", "linear_backward_kernel<GeluSlope, BFloat16>", 0, 8, 310, 120},
    // rows of 768: a warp takes one, a thread 24
    {"LayerNorm", "norm.cu", "layer_norm_kernel<BFloat16, RowSize<32, 24>, true>", kWhole, 24, 712,
     240},
    {"LayerNorm", "norm_backward.cu", "layer_norm_backward_kernel<BFloat16, RowSize<32, 24>, true>",
     2, 24, 852, 343},
    {"AdamW", "optim.cu", "adamw_kernel", 1, 4, 364, 85},
    {"squares", "optim.cu", "sum_squares_kernel", kWhole, 16, 290, 0},
    {"embedding", "embedding.cu", "gather_kernel<float, BFloat16>", kWhole, 4, 235, 0},
    {"gradients of an id", "embedding.cu", "sum_equal_ids_kernel<BFloat16, float>", 0, 16, 161, 16},
    {"row of an id", "embedding.cu", "sum_equal_ids_kernel<BFloat16, float>", kOutside, 4, 245, 0},
    {"pairs of ids", "positions_of_ids.cu", "count_kernel", 0, 4, 37, 0},
};

}  // namespace farfield::bench
