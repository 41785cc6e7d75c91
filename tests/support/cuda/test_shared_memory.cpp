// Shared memory that is read before it is written or accessed out of bounds, and such as is not.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/error.h"
#include "engine/cuda/copy_async.cuh"
#include "engine/cuda/launch.h"
#include "engine/cuda/shared.cuh"
#include "tests/support/cuda/asan.h"
#include "tests/support/cuda/device_array.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/cuda/report_of.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_shared_memory)
namespace {

struct Row {
  float at[64];
};

// Adds up a row of which the first n elements were written.
__global__ void sum_kernel(unsigned n, float* out) {
  Row& row = shared<Row>();
  if (threadIdx.x < n) row.at[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x > 0) return;
  float sum = 0;
  for (const float x : row.at) sum += x;
  out[blockIdx.x] = sum;
}

// Reads a copy before it has waited for it, or after.
__global__ void copy_kernel(const float* x, bool is_too_early, float* out) {
  Row& row = shared<Row>();
  copy_async<16>(row.at, x, true);
  if (is_too_early) *out = row.at[0];
  wait_for_copies();
  if (!is_too_early) *out = row.at[0];
}

// Copies 4 pieces as groups of one, none, two and one, and tells what it sees when all but the last
// n_later groups must be there.
template <int kLater>
__global__ void group_kernel(const float* x, float* out) {
  Row& row = shared<Row>();
  const auto copy = [&](int piece) { copy_async<8>(row.at + 2 * piece, x + 2 * piece, true); };
  copy(0);
  end_copy_group();
  end_copy_group();
  copy(1);
  copy(2);
  end_copy_group();
  copy(3);
  end_copy_group();
  wait_for_copy_groups<kLater>();
  for (int i = 0; i < 8; ++i) out[i] = row.at[i];
}

__global__ void integer_kernel(int* out) { out[threadIdx.x] = dynamic_shared<int>()[threadIdx.x]; }

__global__ void static_kernel(ptrdiff_t at) {
  float* row = shared<Row>().at;
  if (threadIdx.x == 3) row[at] = 2;
}

__global__ void dynamic_kernel(ptrdiff_t at) {
  auto* bytes = dynamic_shared<unsigned char>();
  if (threadIdx.x == 3) bytes[at] = 2;
}

__global__ void read_kernel(ptrdiff_t at, float* out) { *out = dynamic_shared<float>()[at]; }

__global__ void same_kernel(int* out) {
  struct Other {
    Row row;
  };
  auto address = [](auto& object) { return reinterpret_cast<uintptr_t>(&object); };
  out[0] = address(shared<Row>()) == address(shared<Row>());
  out[1] = address(shared<Row>()) == address(shared<Other>());
  out[2] = address(shared<Row>()) % 16 == 0 && address(*dynamic_shared<float>()) % 16 == 0;
}

template <int N>
struct Large {
  char bytes[N];
};
__global__ void large_kernel() {
  shared<Large<(30 << 10)>>().bytes[0] = 1;
  shared<Large<(30 << 10) + 1>>().bytes[0] = 1;
}

__global__ void unasked_kernel(int at) { shared<Row>().at[at] = 1; }

__global__ void global_kernel(float* out, unsigned at) { out[at] = 1; }

// A red zone was touched: by name where the emulation sees it, else by the sanitizer's report.
template <class F>
void check_out_of_bounds(const F& f, const char* kernel, const char* what) {
  if (emulation::kHasAsan)
    BOOST_TEST(report_of(f).find("use-after-poison") != std::string::npos);
  else
    BOOST_CHECK_EXCEPTION(f(), BackendError, says(kernel, "block (0, 0, 0)", what));
}

BOOST_AUTO_TEST_CASE(an_asynchronous_copy_is_not_there_before_the_wait) {
  const DeviceArray<float> x(4, 1.5f), out(1);
  launch(copy_kernel, 1, 1, 0, nullptr, x.data(), false, out.data());
  BOOST_TEST(out.values()[0] == 1.5f);
  launch(copy_kernel, 1, 1, 0, nullptr, x.data(), true, out.data());
  BOOST_TEST(std::isnan(out.values()[0]));
  BOOST_CHECK_THROW(launch(copy_kernel, 1, 1, 0, nullptr, x.data() + 1, true, out.data()),
                    BackendError);
}

BOOST_AUTO_TEST_CASE(a_copy_is_there_once_its_group_was_waited_for) {
  const auto n_there = [](auto* kernel) {
    const DeviceArray<float> x(8, 1.5f), out(8);
    launch(kernel, 1, 1, 0, nullptr, x.data(), out.data());
    const std::vector<float> values = out.values();
    const auto is_there = [](float value) { return value == 1.5f; };
    const auto n = std::count_if(values.begin(), values.end(), is_there);
    BOOST_TEST(std::all_of(values.begin(), values.begin() + n, is_there));
    return n;
  };
  BOOST_TEST(n_there(group_kernel<0>) == 8);
  BOOST_TEST(n_there(group_kernel<1>) == 6);
  BOOST_TEST(n_there(group_kernel<2>) == 2);
  BOOST_TEST(n_there(group_kernel<3>) == 2);
  BOOST_TEST(n_there(group_kernel<4>) == 0);
}

BOOST_AUTO_TEST_CASE(more_than_48_kib_and_than_the_device_has_are_refused) {
  const emulation::KeepDevices keep;
  const auto launch_with = [](size_t bytes) {
    int at = 0;
    void* arguments[] = {&at, nullptr};
    return cudaLaunchKernel(unasked_kernel, 1, 32, arguments, bytes);
  };
  const auto ask_for = [](int bytes) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(unasked_kernel),
                                cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  constexpr int kPlain = 48 << 10, kMost = 99 << 10;
  emulation::emulated_devices().capabilities[0].shared_bytes = kMost;
  BOOST_TEST(launch_with(kPlain) == cudaSuccess);
  BOOST_TEST(launch_with(kPlain + 1) == cudaErrorInvalidValue);
  BOOST_TEST(ask_for(kPlain + 1) == cudaSuccess);
  BOOST_TEST(launch_with(kPlain + 1) == cudaSuccess);
  BOOST_TEST(launch_with(kMost) == cudaErrorInvalidValue);
  BOOST_TEST(ask_for(kMost + 1) == cudaErrorInvalidValue);
  BOOST_TEST(ask_for(kMost - static_cast<int>(sizeof(Row))) == cudaSuccess);
  BOOST_TEST(launch_with(kMost - sizeof(Row)) == cudaSuccess);
  BOOST_TEST(ask_for(kMost) == cudaSuccess);
  BOOST_CHECK_EXCEPTION(launch_with(kMost), BackendError,
                        says("unasked_kernel", "and 101376 with the dynamic part, got 256"));
  BOOST_TEST(launch_with(kMost + 1) == cudaErrorInvalidConfiguration);
}

BOOST_AUTO_TEST_CASE(what_was_not_written_is_nan) {
  const DeviceArray<float> out(2);
  launch(sum_kernel, 2, 64, 0, nullptr, 63u, out.data());
  // the second block does not see what the first has left
  for (const float sum : out.values()) BOOST_TEST(std::isnan(sum));
  launch(sum_kernel, 2, 64, 0, nullptr, 64u, out.data());
  for (const float sum : out.values()) BOOST_TEST(sum == 64);
}

BOOST_AUTO_TEST_CASE(poison_is_nan_in_both_formats_and_no_index) {
  const DeviceArray<int> out(8);
  launch(integer_kernel, 1, 8, 32, nullptr, out.data());
  for (const int bits : out.values()) {
    BOOST_TEST(bits > 1 << 30);
    BOOST_TEST(std::isnan(std::bit_cast<float>(bits)));
    BOOST_TEST(std::isnan(std::bit_cast<float>(bits << 16)));  // the lower bfloat16
    BOOST_TEST((bits & 0x00400040) == 0);                      // both signalling
  }
}

BOOST_AUTO_TEST_CASE(accesses_within_bounds_are_fine) {
  for (const ptrdiff_t at : {0, 1, 63}) {
    BOOST_CHECK_NO_THROW(launch(static_kernel, 2, 32, 0, nullptr, at));
    BOOST_CHECK_NO_THROW(launch(dynamic_kernel, 2, 32, 64, nullptr, at));
  }
}

BOOST_AUTO_TEST_CASE(writes_out_of_bounds_are_found) {
  for (const ptrdiff_t at : {-1, 64, 100})
    check_out_of_bounds([&] { launch(static_kernel, 1, 32, 0, nullptr, at); }, "static_kernel",
                        at > 0 ? "static shared memory, got a write at byte " : "a write at byte ");
  for (const ptrdiff_t at : {-1, 61, 64, 200})
    check_out_of_bounds([&] { launch(dynamic_kernel, 1, 32, 61, nullptr, at); }, "dynamic_kernel",
                        "inside of 61 bytes of dynamic shared memory, got a write at byte ");
}

BOOST_AUTO_TEST_CASE(reads_out_of_bounds_are_found_or_poison) {
  const DeviceArray<float> out(1);
  for (const ptrdiff_t at : {-1, 16, 40}) {
    const auto read = [&] { launch(read_kernel, 1, 1, 64, nullptr, at, out.data()); };
    if (emulation::kHasAsan) {
      BOOST_TEST(report_of(read).find("use-after-poison") != std::string::npos);
    } else {
      read();
      BOOST_TEST(std::isnan(out.values()[0]));
    }
  }
}

BOOST_AUTO_TEST_CASE(global_memory_has_bounds_under_the_sanitizer) {
  const DeviceArray<float> out(7);
  launch(global_kernel, 1, 1, 0, nullptr, out.data(), 6u);
  BOOST_TEST(out.values()[6] == 1);
  if (emulation::kHasAsan)
    BOOST_TEST(report_of([&] {
                 launch(global_kernel, 1, 1, 0, nullptr, out.data(), 7u);
               }).find("heap-buffer-overflow") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(one_type_is_one_object) {
  const DeviceArray<int> out(3);
  launch(same_kernel, 1, 1, 64, nullptr, out.data());
  BOOST_TEST(out.values() == std::vector<int>({1, 0, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(shared_memory_has_an_end) {
  BOOST_CHECK_EXCEPTION(launch(large_kernel, 1, 32, 0, nullptr), BackendError,
                        says("large_kernel", "thread 0", "shared (test_shared_memory.cpp:",
                             "expected at most 49152 bytes of static shared memory"));
  BOOST_CHECK_EXCEPTION(launch(dynamic_kernel, 1, 32, 0, nullptr, ptrdiff_t{0}), BackendError,
                        says("dynamic_kernel", "dynamic_shared (test_shared_memory.cpp:",
                             "expected a launch with shared_bytes > 0"));
}

BOOST_AUTO_TEST_CASE(what_the_runtime_says_of_static_objects_must_be_enough) {
  const DeviceArray<int> out(3);
  const auto* const kernel = reinterpret_cast<const void*>(same_kernel);
  constexpr size_t size_bytes = 2 * sizeof(Row);
  emulation::set_static_shared_bytes(kernel, size_bytes - 1);
  BOOST_CHECK_EXCEPTION(launch(same_kernel, 1, 1, 64, nullptr, out.data()), BackendError,
                        says("same_kernel: expected ", "bytes of static shared memory"));
  emulation::set_static_shared_bytes(kernel, size_bytes);
  BOOST_CHECK_NO_THROW(launch(same_kernel, 1, 1, 64, nullptr, out.data()));
  cudaFuncAttributes attributes = {};
  BOOST_TEST(cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess);
  BOOST_TEST(attributes.sharedSizeBytes == size_bytes);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
