#include <atomic>
#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/cuda/graph.h"
#include "engine/cuda/kernel_name.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/shared.cuh"
#include "engine/cuda/stream.h"
#include "tests/support/cuda/block.h"
#include "tests/support/cuda/copies.h"
#include "tests/support/cuda/device_array.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/cuda/fault_in.h"
#include "tests/support/cuda/kernel_attributes.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_launch)
namespace {

__global__ void empty_kernel() {}

template <class T, int N>
__global__ void fill_kernel(T value, int64_t size, T* out) {
  for (int64_t i = threadIdx.x; i < size; i += N) out[i] = value;
}

int n_alive = 0;
struct Alive {
  Alive() { ++n_alive; }
  ~Alive() { --n_alive; }
};

// One thread throws while the others wait, each with an object on its stack.
__global__ void throwing_kernel(unsigned thrower) {
  const Alive alive;
  if (threadIdx.x == thrower && blockIdx.x == 1) throw std::runtime_error("from a kernel");
  __syncthreads();
}

__global__ void launching_kernel() { launch(empty_kernel, 1, 1, 0, nullptr); }

template <int N>  // tells kernels apart
__global__ void last_byte_kernel(size_t size_bytes) {
  dynamic_shared<unsigned char>()[size_bytes - 1] = 1;
}

BOOST_AUTO_TEST_CASE(arguments_become_what_the_kernel_takes) {
  const DeviceArray<float> out(100);
  const int size = 100;
  launch(fill_kernel<float, 64>, 1, 64, 0, nullptr, 2.5, size, out.data());
  for (const float x : out.values()) BOOST_TEST(x == 2.5f);
}

BOOST_AUTO_TEST_CASE(kernels_have_their_names) {
  const auto name = [](auto* kernel) { return kernel_name(reinterpret_cast<const void*>(kernel)); };
  BOOST_TEST(name(empty_kernel) == "farfield::test_launch::(anonymous namespace)::empty_kernel");
  BOOST_TEST(name(fill_kernel<int, 4>) ==
             "void farfield::test_launch::(anonymous namespace)::fill_kernel<int, 4>");
  BOOST_TEST(kernel_name(&n_alive) == "a kernel without a name");
}

BOOST_AUTO_TEST_CASE(an_empty_grid_is_refused) {
  BOOST_CHECK_EXCEPTION(
      launch(empty_kernel, 0, 32, 0, nullptr), BackendError,
      says_exactly("[cuda] launch of farfield::test_launch::(anonymous namespace)::empty_kernel "
                   "with grid (0, 1, "
                   "1), block (32, 1, 1), 0 bytes of dynamic shared memory: invalid configuration "
                   "argument"));
  for (const auto& [grid, block] :
       {std::pair(dim3(1, 0), dim3(1)), std::pair(dim3(1, 1, 0), dim3(1)),
        std::pair(dim3(1), dim3(0)), std::pair(dim3(1), dim3(32, 0)),
        std::pair(dim3(1), dim3(1025)), std::pair(dim3(1), dim3(32, 33)),
        std::pair(dim3(1), dim3(1, 1, 65)), std::pair(dim3(1, 65536), dim3(1)),
        std::pair(dim3(1, 1, 65536), dim3(1)), std::pair(dim3(0x80000000u), dim3(1))})
    BOOST_CHECK_EXCEPTION(launch(empty_kernel, grid, block, 0, nullptr), BackendError,
                          says("empty_kernel", "invalid configuration argument"));
}

BOOST_AUTO_TEST_CASE(shared_memory_above_48_kib_is_asked_for) {
  const size_t most = size_t{163} << 10;
  BOOST_CHECK_NO_THROW(launch(last_byte_kernel<0>, 2, 1, most, nullptr, most));
  BOOST_CHECK_EXCEPTION(
      launch(last_byte_kernel<0>, 2, 1, most + 1, nullptr, most), BackendError,
      says_exactly("[cuda] launch of void farfield::test_launch::(anonymous namespace)::"
                   "last_byte_kernel<0>: expected at most 166912 bytes of shared "
                   "memory, all that a block of cuda:0 may have, got 166913; use "
                   "smaller sizes, a narrower type, or the device cpu"));
}

struct Own {
  unsigned char byte[size_t{12} << 10];
};

// Static shared memory, of which the runtime tells, and dynamic memory beside it.
template <int N>
__global__ void own_byte_kernel() {
  shared<Own>().byte[threadIdx.x] = 1;
}

template <class Kernel>
const void* address_of(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

// This many blocks fit on a multiprocessor, also if 48 KiB are enough for one block.
BOOST_AUTO_TEST_CASE(kernels_with_much_shared_memory_want_all_of_it) {
  const size_t many = detail::kManySharedBytes;
  const auto wants = [](const void* kernel) { return emulation::preferred_carveout(kernel); };
  const auto* const dynamic = address_of(last_byte_kernel<1>);
  launch(last_byte_kernel<1>, 1, 1, many - 1, nullptr, many - 1);
  BOOST_TEST(wants(dynamic) == -1);
  launch(last_byte_kernel<1>, 1, 1, many, nullptr, many);
  BOOST_TEST(wants(dynamic) == cudaSharedmemCarveoutMaxShared);

  const auto* const both = address_of(own_byte_kernel<0>);
  emulation::set_static_shared_bytes(both, sizeof(Own));
  launch(own_byte_kernel<0>, 1, 1, many - sizeof(Own) - 1, nullptr);
  BOOST_TEST(wants(both) == -1);
  launch(own_byte_kernel<0>, 1, 1, many - sizeof(Own), nullptr);
  BOOST_TEST(wants(both) == cudaSharedmemCarveoutMaxShared);

  const auto* const own = address_of(own_byte_kernel<1>);
  emulation::set_static_shared_bytes(own, many);
  launch(own_byte_kernel<1>, 1, 1, 0, nullptr);
  BOOST_TEST(wants(own) == cudaSharedmemCarveoutMaxShared);
}

// A launch is no place for calls that say again what the runtime knows.
// Of what a launch may give without being allowed more, the kernel's own memory is a part.
BOOST_AUTO_TEST_CASE(own_memory_counts_for_what_must_be_asked_for) {
  constexpr size_t kPlain = size_t{48} << 10;
  const auto* const kernel = address_of(own_byte_kernel<9>);
  emulation::set_static_shared_bytes(kernel, sizeof(Own));
  void* no_arguments[] = {nullptr};
  const auto launched = [&](size_t size_bytes) {
    return cudaLaunchKernel(own_byte_kernel<9>, 1, 1, no_arguments, size_bytes);
  };
  BOOST_TEST(launched(kPlain - sizeof(Own)) == cudaSuccess);
  BOOST_TEST(launched(kPlain - sizeof(Own) + 1) == cudaErrorInvalidValue);
  launch(own_byte_kernel<9>, 1, 1, kPlain, nullptr);
  BOOST_TEST(launched(kPlain) == cudaSuccess);
}

BOOST_AUTO_TEST_CASE(the_runtime_is_asked_once_for_a_kernel_a_device_and_a_size) {
  const emulation::KeepDevices keep;
  emulation::emulated_devices().capabilities = {{8, 0}, {8, 0}};
  const auto calls_of = [](size_t size_bytes) {
    const int64_t before = emulation::n_attribute_calls();
    launch(last_byte_kernel<2>, 1, 1, size_bytes, nullptr, size_bytes);
    return emulation::n_attribute_calls() - before;
  };
  for (const auto& [device, n] : {std::pair(0, 1), std::pair(1, 1), std::pair(0, 0)}) {
    cuda_check(cudaSetDevice(device), "device");
    BOOST_TEST(calls_of(1) == n);                 // its own shared memory
    BOOST_TEST(calls_of(size_t{32} << 10) == n);  // that it prefers it
    BOOST_TEST(calls_of(size_t{64} << 10) == n);  // that it may have more
    BOOST_TEST(calls_of(size_t{96} << 10) == n);  // and still more
    BOOST_TEST(calls_of(size_t{64} << 10) == 0);
    BOOST_TEST(calls_of(1) == 0);
  }
}

// One that would ask for less must not take away what others count on.
BOOST_AUTO_TEST_CASE(threads_that_launch_one_kernel_with_other_sizes_do_not_meet) {
  std::atomic<int> n_failed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&n_failed, i] {
      for (size_t n = 0; n < 50; ++n) {
        const size_t size_bytes =
            (size_t{49} << 10) + 1024 * ((n * 7 + static_cast<size_t>(i) * 13) % 100);
        try {
          launch(last_byte_kernel<3>, 1, 1, size_bytes, nullptr, size_bytes);
        } catch (const std::exception&) {
          ++n_failed;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(n_failed == 0);
}

BOOST_AUTO_TEST_CASE(an_exception_comes_out_and_leaves_nothing_behind) {
  for (const unsigned thrower : {0u, 17u, 255u}) {
    BOOST_CHECK_EXCEPTION(launch(throwing_kernel, 3, 256, 0, nullptr, thrower), std::runtime_error,
                          says_exactly("from a kernel"));
    BOOST_TEST(n_alive == 0);
    BOOST_TEST(emulation::this_block().n_suspended() == 0);
  }
  BOOST_CHECK_NO_THROW(launch(throwing_kernel, 3, 256, 0, nullptr, 256u));
  BOOST_TEST(n_alive == 0);
}

BOOST_AUTO_TEST_CASE(a_kernel_launches_no_kernel) {
  BOOST_CHECK_EXCEPTION(launch(launching_kernel, 1, 1, 0, nullptr), BackendError,
                        says_exactly("[cuda] expected launches by the host, got one inside of a "
                                     "kernel"));
}

// FARFIELD_CUDA_SYNC=1: an error belongs to the launch after which it is found.
BOOST_AUTO_TEST_CASE(each_launch_is_waited_for_when_asked_but_in_a_capture) {
  const test::WaitsForEach restore(false);
  const Stream stream;
  const auto waits_of = [](const auto& work) {
    const int64_t before = emulation::n_host_waits();
    work();
    return emulation::n_host_waits() - before;
  };
  const auto empty = [&] { launch(empty_kernel, 1, 32, 0, stream.get()); };
  BOOST_TEST(waits_of(empty) == 0);
  wait_for_each_launch(true);
  BOOST_TEST(waits_of(empty) == 1);
  BOOST_TEST(waits_of([&] {
               Capture capture(stream.get());
               empty();
               BOOST_TEST(capture.end().n_nodes() == 1);
             }) == 0);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
