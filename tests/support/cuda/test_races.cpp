// Kernels whose result depends on the order of threads, and the same ones mended.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/error.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/shared.cuh"
#include "tests/support/cuda/device_array.h"
#include "tests/support/cuda/grid.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_races)
namespace {

struct Row {
  float at[64];
};

__global__ void neighbour_kernel(bool has_barrier, float* out) {
  Row& row = shared<Row>();
  row.at[threadIdx.x] = static_cast<float>(threadIdx.x);
  if (has_barrier) __syncthreads();
  out[threadIdx.x] = row.at[(threadIdx.x + 1) % 64];
}

// Each round overwrites what slower threads may still read.
__global__ void rounds_kernel(bool has_barrier, float* out) {
  Row& row = shared<Row>();
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    row.at[threadIdx.x] = static_cast<float>(round);
    __syncthreads();
    sum += row.at[63 - threadIdx.x];
    if (has_barrier) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

__global__ void blocks_kernel(bool is_shifted, float* out) {
  if (threadIdx.x == 0) out[is_shifted ? 0 : blockIdx.x] = static_cast<float>(blockIdx.x);
}

// fmax hides the NaN of the element that nobody wrote.
__global__ void largest_kernel(unsigned n, float* out) {
  Row& row = shared<Row>();
  if (threadIdx.x < n) row.at[threadIdx.x] = 1;
  __syncthreads();
  float largest = 0;
  for (const float x : row.at) largest = std::fmax(largest, x);
  out[threadIdx.x] = largest;
}

__global__ void sum_kernel(float unit, float* sum) {
  // 3e7 + 1 + 1 + ... is not 1 + 1 + ... + 3e7 in float32
  atomicAdd(sum, threadIdx.x == 0 ? unit * 3e7f : unit);
}

__global__ void count_kernel(int* count) { atomicAdd(count, static_cast<int>(threadIdx.x)); }

// Runs the kernel with and without the flaw under a check.
template <class Kernel, class Flag>
void check_flaw(Kernel kernel, Flag good, Flag bad, const char* name) {
  const DeviceArray<float> out(64, 0.0f);
  const emulation::RaceCheck check;
  BOOST_CHECK_NO_THROW(launch(kernel, 4, 64, 0, nullptr, good, out.data()));
  BOOST_CHECK_EXCEPTION(
      launch(kernel, 4, 64, 0, nullptr, bad, out.data()), BackendError,
      says(name, "expected the same results in any order of threads", "of an array of 256 bytes"));
}

BOOST_AUTO_TEST_CASE(a_read_without_a_barrier_after_the_write_is_found) {
  check_flaw(neighbour_kernel, true, false, "neighbour_kernel");
}

BOOST_AUTO_TEST_CASE(a_write_without_a_barrier_after_the_read_is_found) {
  check_flaw(rounds_kernel, true, false, "rounds_kernel");
}

BOOST_AUTO_TEST_CASE(blocks_that_write_to_one_place_are_found) {
  check_flaw(blocks_kernel, false, true, "blocks_kernel");
}

BOOST_AUTO_TEST_CASE(a_hidden_read_of_what_was_not_written_is_found) {
  check_flaw(largest_kernel, 64u, 63u, "largest_kernel");
}

BOOST_AUTO_TEST_CASE(floating_point_atomics_depend_on_the_order) {
  const DeviceArray<float> sum(1, 0.0f);
  const DeviceArray<int> count(1, 0);
  const emulation::RaceCheck check;
  BOOST_CHECK_NO_THROW(launch(count_kernel, 2, 64, 0, nullptr, count.data()));
  BOOST_TEST(count.values()[0] == 2 * 2016);  // counted once, though run twice
  BOOST_CHECK_EXCEPTION(launch(sum_kernel, 1, 64, 0, nullptr, 1.0f, sum.data()), BackendError,
                        says("sum_kernel", "atomics on floating point"));
}

BOOST_AUTO_TEST_CASE(without_the_check_a_launch_runs_once) {
  const DeviceArray<float> out(64, 0.0f);
  BOOST_CHECK_NO_THROW(launch(neighbour_kernel, 1, 64, 0, nullptr, false, out.data()));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
