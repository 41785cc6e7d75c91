// Barriers that only some threads of a block reach, and barriers that all reach.
#include <boost/test/unit_test.hpp>

#include "engine/base/error.h"
#include "engine/cuda/launch.h"
#include "tests/support/cuda/device_array.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_barriers)
namespace {

// Lines that the messages name.
constexpr int kFirst = __LINE__ + 4, kSecond = __LINE__ + 11, kThird = __LINE__ + 14;

__global__ void some_kernel(unsigned n_at_barrier) {
  if (threadIdx.x < n_at_barrier) {
    __syncthreads();
  }
}

__global__ void mixed_kernel(bool has_shuffle, int* out) {
  int x = 1;
  if (threadIdx.x < 32)
    __syncthreads();
  else if (has_shuffle)
    x = __shfl_xor_sync(0xffffffffu, x, 1);
  else
    __syncthreads();
  out[threadIdx.x] = x;
}

__global__ void returning_kernel(unsigned n) {
  if (blockIdx.x * blockDim.x + threadIdx.x >= n) return;
  __syncthreads();
}

__global__ void counting_kernel(int n_rounds, int* counts) {
  for (int i = 0; i < n_rounds; ++i) {
    // reads what the neighbour wrote in the round before
    const int seen = counts[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    counts[threadIdx.x] = seen + 1;
    __syncthreads();
  }
}

std::string at(int line) {
  return "__syncthreads (test_barriers.cpp:" + std::to_string(line) + ")";
}

BOOST_AUTO_TEST_CASE(all_threads_meet_at_each_barrier) {
  for (const unsigned n_threads : {1u, 31u, 256u, 1000u}) {
    const DeviceArray<int> counts(n_threads, 0);
    launch(counting_kernel, 1, n_threads, 0, nullptr, 20, counts.data());
    BOOST_TEST(counts.values() == std::vector<int>(n_threads, 20),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_condition_that_all_share_is_no_divergence) {
  BOOST_CHECK_NO_THROW(launch(some_kernel, 3, 64, 0, nullptr, 64u));
  BOOST_CHECK_NO_THROW(launch(some_kernel, 3, 64, 0, nullptr, 0u));
  BOOST_CHECK_NO_THROW(launch(returning_kernel, 4, 64, 0, nullptr, 128u));
}

BOOST_AUTO_TEST_CASE(threads_that_pass_by_a_barrier_are_named) {
  BOOST_CHECK_EXCEPTION(
      launch(some_kernel, 2, 128, 0, nullptr, 40u), BackendError,
      says_exactly("[cuda] farfield::test_barriers::(anonymous namespace)::some_kernel, block (0, "
                   "0, 0): of 128 "
                   "threads some wait for others that cannot come: threads 0-39 at " +
                   at(kFirst) + "; threads 40-127 at the end"));
}

BOOST_AUTO_TEST_CASE(threads_that_return_early_are_named_with_their_block) {
  BOOST_CHECK_EXCEPTION(launch(returning_kernel, 4, 64, 0, nullptr, 129u), BackendError,
                        says("returning_kernel", "block (2, 0, 0)", "thread 0 at __syncthreads",
                             "threads 1-63 at the end"));
}

BOOST_AUTO_TEST_CASE(a_barrier_and_a_warp_operation_do_not_meet) {
  const DeviceArray<int> out(64, 0);
  BOOST_CHECK_EXCEPTION(launch(mixed_kernel, 1, 48, 0, nullptr, true, out.data()), BackendError,
                        says("mixed_kernel", "block (0, 0, 0)",
                             "threads 32-47 at __shfl_xor_sync (test_barriers.cpp:",
                             "for lanes 0xffffffff", "threads 0-31 at " + at(kSecond)));
}

BOOST_AUTO_TEST_CASE(two_barriers_are_not_one) {
  const DeviceArray<int> out(64, 0);
  BOOST_CHECK_EXCEPTION(launch(mixed_kernel, 1, 64, 0, nullptr, false, out.data()), BackendError,
                        says("mixed_kernel", "block (0, 0, 0), thread 32",
                             "got 32 at " + at(kSecond), "this one at " + at(kThird + 1)));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
