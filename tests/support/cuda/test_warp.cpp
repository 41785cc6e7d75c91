// Warp operations for which a lane does not come, and those for which all come.
#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "engine/cuda/launch.h"
#include "tests/support/cuda/device_array.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_warp)
namespace {

constexpr unsigned kAll = 0xffffffffu;

// Each half of the warp adds up on its own, the second one twice.
__global__ void halves_kernel(int* out) {
  const bool is_first = threadIdx.x % 32 < 16;
  const unsigned mask = is_first ? 0x0000ffffu : 0xffff0000u;
  int sum = 1;
  for (int round = is_first ? 1 : 0; round < 2; ++round)
    for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(mask, sum, step);
  out[threadIdx.x] = sum;
}

__global__ void width_kernel(int* up, int* down, int* by_xor, int* by_index) {
  const int lane = static_cast<int>(threadIdx.x);
  up[lane] = __shfl_up_sync(kAll, lane, 1, 8);
  down[lane] = __shfl_down_sync(kAll, lane, 2, 8);
  by_xor[lane] =
      __shfl_xor_sync(kAll, lane, 9, 8);  // up to a later part: own; to an earlier one: that
  by_index[lane] = __shfl_sync(kAll, lane, 11, 8);  // 11 is 3 among 8
}

__global__ void reduce_kernel(unsigned* smallest, unsigned* largest) {
  const unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
  smallest[threadIdx.x] = __reduce_min_sync(mask, 100 - threadIdx.x);
  largest[threadIdx.x] = __reduce_max_sync(mask, 100 - threadIdx.x);
}

__global__ void leaving_kernel(int* out) {
  if (threadIdx.x == 5) return;
  out[threadIdx.x] = __any_sync(kAll, 1);
}

__global__ void foreign_kernel() { __syncwarp(0x1u); }

__global__ void masks_kernel() { __syncwarp(threadIdx.x < 4 ? 0xffu : 0xf0u); }

__global__ void kinds_kernel(int* out) {
  if (threadIdx.x < 16)
    out[threadIdx.x] = __any_sync(kAll, 1);
  else
    out[threadIdx.x] = __shfl_xor_sync(kAll, 1, 1);
}

__global__ void outside_kernel(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffu, 1, 20);
}

BOOST_AUTO_TEST_CASE(parts_of_a_warp_go_their_own_ways) {
  const DeviceArray<int> out(64);
  launch(halves_kernel, 1, 64, 0, nullptr, out.data());
  const auto got = out.values();
  for (size_t i = 0; i < got.size(); ++i) BOOST_TEST(got[i] == (i % 32 < 16 ? 16 : 256));
}

BOOST_AUTO_TEST_CASE(reductions_are_those_of_the_lanes_named) {
  const DeviceArray<unsigned> smallest(32), largest(32);
  launch(reduce_kernel, 1, 32, 0, nullptr, smallest.data(), largest.data());
  for (size_t i = 0; i < 32; ++i) {
    BOOST_TEST(smallest.values()[i] == (i < 16 ? 85 : 69));
    BOOST_TEST(largest.values()[i] == (i < 16 ? 100 : 84));
  }
}

BOOST_AUTO_TEST_CASE(width_cuts_a_warp_as_the_instruction_does) {
  const DeviceArray<int> up(32), down(32), by_xor(32), by_index(32);
  launch(width_kernel, 1, 32, 0, nullptr, up.data(), down.data(), by_xor.data(), by_index.data());
  const auto u = up.values(), d = down.values(), x = by_xor.values(), s = by_index.values();
  for (int lane = 0; lane < 32; ++lane) {
    const auto i = static_cast<size_t>(lane);
    BOOST_TEST(u[i] == (lane % 8 == 0 ? lane : lane - 1));
    BOOST_TEST(d[i] == (lane % 8 > 5 ? lane : lane + 2));
    BOOST_TEST(x[i] == ((lane ^ 9) > lane ? lane : lane ^ 9));
    BOOST_TEST(s[i] == lane / 8 * 8 + 3);
  }
}

BOOST_AUTO_TEST_CASE(a_lane_that_has_left_is_missed) {
  const DeviceArray<int> out(64);
  BOOST_CHECK_EXCEPTION(
      launch(leaving_kernel, 1, 64, 0, nullptr, out.data()), BackendError,
      says("leaving_kernel, block (0, 0, 0)", "threads 0-4, 6-31 at __any_sync (test_warp.cpp:",
           "for lanes 0xffffffff", "threads 5, 32-63 at the end"));
}

BOOST_AUTO_TEST_CASE(a_lane_that_the_block_does_not_have_is_missed) {
  const DeviceArray<int> out(32);
  BOOST_CHECK_EXCEPTION(
      launch(width_kernel, 1, 20, 0, nullptr, out.data(), out.data(), out.data(), out.data()),
      BackendError, says("width_kernel", "of 20 threads", "threads 0-19 at __shfl_up_sync"));
}

BOOST_AUTO_TEST_CASE(a_mask_names_its_caller) {
  BOOST_CHECK_EXCEPTION(
      launch(foreign_kernel, 1, 32, 0, nullptr), BackendError,
      says("foreign_kernel, block (0, 0, 0), thread 1",
           "__syncwarp (test_warp.cpp:", "expected a mask that names the caller, lane 1, got 0x1"));
}

BOOST_AUTO_TEST_CASE(lanes_agree_on_the_mask) {
  BOOST_CHECK_EXCEPTION(launch(masks_kernel, 1, 8, 0, nullptr), BackendError,
                        says("masks_kernel", "threads 0-3 at __syncwarp", "for lanes 0xff"));
}

BOOST_AUTO_TEST_CASE(lanes_agree_on_the_operation) {
  const DeviceArray<int> out(32);
  BOOST_CHECK_EXCEPTION(
      launch(kinds_kernel, 1, 32, 0, nullptr, out.data()), BackendError,
      says("kinds_kernel", "expected the lanes of 0xffffffff at one warp operation",
           "__shfl_xor_sync", "and thread 0 at __any_sync"));
}

BOOST_AUTO_TEST_CASE(a_shuffle_reads_lanes_of_its_mask) {
  const DeviceArray<int> out(32);
  BOOST_CHECK_EXCEPTION(
      launch(outside_kernel, 1, 32, 0, nullptr, out.data()), BackendError,
      says("outside_kernel", "__shfl_sync (test_warp.cpp:",
           "expected sources among the lanes 0xffff", "got lane 0 reading lane 20"));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
