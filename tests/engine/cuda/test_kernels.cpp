#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/dtype.h"
#include "tests/engine/cuda/kernels/kernels.h"

namespace farfield::test_kernels {
BOOST_AUTO_TEST_SUITE(test_kernels)  // ctest: gpu
namespace {

// Multiples of 1/8 below 4 in size: sums of some thousands are exact in float32, products in
// bfloat16.
std::vector<float> eighths(size_t n, unsigned seed) {
  std::vector<float> x(n);
  for (float& value : x) {
    seed = seed * 1664525u + 1013904223u;
    value = (static_cast<float>(seed >> 26) - 31.5f) / 8;
  }
  return x;
}

std::vector<int> small_numbers(size_t n, int bound, unsigned seed) {
  std::vector<int> x(n);
  for (int& value : x) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<int>((seed >> 16) % static_cast<unsigned>(bound));
  }
  return x;
}

BOOST_AUTO_TEST_CASE(shuffles_add_up_a_warp) {
  const auto x = eighths(512, 1);
  const WarpResults got = warp_results(x);
  for (size_t warp = 0; warp < x.size() / 32; ++warp) {
    float sum = 0;
    for (size_t i = 32 * warp; i < 32 * warp + 32; ++i) {
      sum += x[i];
      BOOST_TEST(got.running_sum[i] == sum);
    }
    BOOST_TEST(got.sum_by_xor[warp] == sum);
    BOOST_TEST(got.sum_by_down[warp] == sum);
    BOOST_TEST(got.third[warp] == x[32 * warp + 3]);
  }
}

BOOST_AUTO_TEST_CASE(shared_memory_adds_up_a_block) {
  for (const size_t n : {1u, 255u, 256u, 700u}) {
    const auto x = eighths(n, 2);
    const auto got = block_sums(x);
    BOOST_TEST_REQUIRE(got.size() == (n + 255) / 256);
    for (size_t block = 0; block < got.size(); ++block) {
      const auto begin = x.begin() + static_cast<ptrdiff_t>(256 * block);
      const auto end = block + 1 < got.size() ? begin + 256 : x.end();
      BOOST_TEST(got[block] == std::accumulate(begin, end, 0.0f));
    }
  }
}

BOOST_AUTO_TEST_CASE(tiles_transpose_a_matrix) {
  for (const auto& [rows, cols] : {std::pair(64, 32), std::pair(33, 70), std::pair(1, 5)}) {
    std::vector<float> x(static_cast<size_t>(rows * cols));
    std::iota(x.begin(), x.end(), 0.0f);
    const auto got = transpose(x, rows, cols);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c)
        BOOST_TEST(got[static_cast<size_t>(c * rows + r)] == x[static_cast<size_t>(r * cols + c)]);
  }
}

BOOST_AUTO_TEST_CASE(atomics_count_what_occurs) {
  const auto x = small_numbers(5000, 50, 3);
  std::vector<int> want(50, 0);
  for (const int value : x) ++want[static_cast<size_t>(value)];
  BOOST_TEST(histogram(x, 50) == want, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(atomics_find_the_largest_and_the_sum) {
  auto x = small_numbers(1000, 2000, 4);
  for (int& value : x) value -= 1000;
  const AtomicResults got = atomic_results(x);
  BOOST_TEST(got.largest == *std::max_element(x.begin(), x.end()));
  const int sum = std::accumulate(x.begin(), x.end(), 0);
  BOOST_TEST(got.sum == static_cast<float>(sum));
  BOOST_TEST(got.double_sum == sum);
}

BOOST_AUTO_TEST_CASE(matrix_instruction_multiplies_like_a_loop) {
  constexpr int kM = 32, kN = 24, kK = 48;
  const auto a = eighths(kM * kK, 5), b = eighths(kK * kN, 6);
  const auto got = matmul(a, b, kM, kN, kK);
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      float want = 0;  // exact: every product is a multiple of 1/256
      for (int k = 0; k < kK; ++k)
        want += a[static_cast<size_t>(m * kK + k)] * b[static_cast<size_t>(k * kN + n)];
      BOOST_TEST(got[static_cast<size_t>(m * kN + n)] == want);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_warpgroup_multiplies_what_lies_in_swizzled_rows) {
  constexpr size_t kN = 64;
  const auto a = eighths(kN * kN, 9), b = eighths(kN * kN, 10), c = eighths(kN * kN, 11);
  const auto got = warpgroup_products(a, b, c);
  if (got.empty()) {
    BOOST_TEST_MESSAGE("skipped: no products of warpgroups on this device, or in this build");
    return;
  }
  size_t n_wrong = 0;
  for (size_t i = 0; i < kN; ++i)
    for (size_t j = 0; j < kN; ++j) {
      float sum = 0;  // exact
      for (size_t k = 0; k < kN; ++k) sum += a[kN * i + k] * (b[kN * j + k] + c[kN * k + j]);
      if (got[kN * i + j] != sum) ++n_wrong;
    }
  BOOST_TEST(n_wrong == 0u);
}

BOOST_AUTO_TEST_CASE(bulk_copies_bring_boxes_and_zeros_for_what_is_outside) {
  constexpr int kRows = BulkCopies::kRows, kFloats = BulkCopies::kFloats, kN = 64;
  BulkCopies copies{2,
                    70,
                    3,
                    eighths(size_t{2} * 70 * 3 * kN, 12),
                    eighths(100, 13),
                    eighths(40, 14),
                    {0,  0, 0, 0,    //
                     5,  2, 1, 64,   // floats up to the last
                     40, 1, 0, -8,   // beyond the last row, before the first float
                     -3, 0, 1, 96,   // before the first row
                     70, 2, 1, 100,  // nothing
                     6,  1, 1, 4}};
  const auto got = bulk_copies(copies);
  if (got.empty()) {
    BOOST_TEST_MESSAGE("skipped: no bulk copies on this device, or in this build");
    return;
  }
  size_t at = 0, n_wrong = 0;
  for (size_t box = 0; box < copies.places.size() / 4; ++box) {
    const int* const place = &copies.places[4 * box];
    for (int i = 0; i < kRows; ++i)
      for (int column = 0; column < kN; ++column) {
        const int row = place[0] + i;
        const bool is_there = row >= 0 && row < copies.n_row;
        const int from = ((place[2] * copies.n_row + row) * copies.n_head + place[1]) * kN + column;
        n_wrong += got[at++] != (is_there ? copies.rows[static_cast<size_t>(from)] : 0);
      }
    for (int i = 0; i < kFloats; ++i) {
      const int x = place[3] + i;
      const bool is_there = x >= 0 && x < 100;
      n_wrong += got[at++] != (is_there ? copies.floats[static_cast<size_t>(x)] : 0);
    }
    for (size_t i = 0; i < BulkCopies::kBytes; ++i)
      n_wrong += got[at++] != copies.bytes[4 * box + i];
  }
  BOOST_TEST(at == got.size());
  BOOST_TEST(n_wrong == 0u);
}

BOOST_AUTO_TEST_CASE(matrices_are_loaded_in_the_layouts_of_the_matrix_instruction) {
  const auto x = eighths(4 * 64, 8);
  for (const bool is_transposed : {false, true}) {
    const auto got = matrix_pairs(x, is_transposed);
    for (size_t lane = 0; lane < 32; ++lane)
      for (size_t i = 0; i < 4; ++i)
        for (size_t half = 0; half < 2; ++half) {
          const size_t row = lane / 4, column = lane % 4 * 2 + half;
          BOOST_TEST(got[8 * lane + 2 * i + half] ==
                     x[64 * i + (is_transposed ? 8 * column + row : 8 * row + column)]);
        }
  }
}

// Every sign, exponent and upper seven bits, each with what rounds down, to even and up: zeros,
// denormals, what becomes infinite, infinities and NaNs of any payload among them.
std::vector<float> all_that_rounds() {
  std::vector<float> x;
  for (uint32_t upper = 0; upper <= 0xffffu; ++upper)
    for (const uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      x.push_back(std::bit_cast<float>(upper << 16 | lower));
  return x;
}

BOOST_AUTO_TEST_CASE(a_pair_is_rounded_to_the_bits_of_each_by_itself) {
  const auto x = all_that_rounds();
  const RoundedPairs got = rounded_pairs(x);
  BOOST_TEST((got.as_pair == got.one_by_one));
  size_t n_wrong = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    BFloat16 y;
    y.bits = static_cast<uint16_t>(got.as_pair[i / 2] >> (i % 2 * 16));
    const bool is_right =
        std::isnan(x[i]) ? std::isnan(static_cast<float>(y)) : y.bits == BFloat16(x[i]).bits;
    if (!is_right) ++n_wrong;
  }
  BOOST_TEST(n_wrong == 0u);
}

BOOST_AUTO_TEST_CASE(asynchronous_copies_arrive_with_the_wait) {
  const auto x = eighths(128 * 20, 9);
  const auto got = copied(x);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t row = i / 20, piece = i % 20 / 4;
    BOOST_TEST(got[i] == (piece < 4 && (row + piece) % 5 == 0 ? 0 : x[i]));
  }
}

BOOST_AUTO_TEST_CASE(votes_see_every_lane) {
  auto x = eighths(128, 7);
  for (size_t i = 32; i < 64; ++i) x[i] = -1;
  for (size_t i = 64; i < 96; ++i) x[i] = 1;
  const Votes got = votes(x);
  for (size_t warp = 0; warp < 4; ++warp) {
    unsigned ballot = 0;
    for (unsigned i = 0; i < 32; ++i) ballot |= (x[32 * warp + i] > 0 ? 1u : 0u) << i;
    BOOST_TEST(got.ballot[warp] == ballot);
    BOOST_TEST((got.any[warp] != 0) == (ballot != 0));
    BOOST_TEST((got.all[warp] != 0) == (ballot == ~0u));
  }
  BOOST_TEST(got.ballot[1] == 0u);
  BOOST_TEST(got.ballot[2] == ~0u);
}

BOOST_AUTO_TEST_CASE(grids_have_up_to_three_dimensions) {
  using Sizes = std::array<unsigned, 3>;
  for (const auto& [grid, block] : {std::pair<Sizes, Sizes>({5, 1, 1}, {33, 1, 1}),
                                    std::pair<Sizes, Sizes>({2, 3, 1}, {8, 4, 1}),
                                    std::pair<Sizes, Sizes>({2, 3, 4}, {4, 3, 5}),
                                    std::pair<Sizes, Sizes>({1, 1, 1}, {1024, 1, 1})}) {
    const auto got = indices(grid, block);
    std::vector<int> want(got.size());
    std::iota(want.begin(), want.end(), 0);
    BOOST_TEST(got == want, boost::test_tools::per_element());
  }
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield::test_kernels
