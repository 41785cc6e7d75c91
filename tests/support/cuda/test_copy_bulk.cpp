// TMA copies on the emulated device: when their bytes arrive, and which copies are refused.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "engine/base/error.h"
#include "engine/cuda/copy_bulk.cuh"
#include "engine/cuda/shared.cuh"
#include "engine/cuda/warp.cuh"
#include "tests/support/cuda/device_array.h"
#include "tests/support/messages.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_copy_bulk)
namespace {

constexpr int kFloats = 32, kBytes = kFloats * int{sizeof(float)};

struct alignas(128) Copied {
  float at[2 * kFloats];
  CopyBarrier barrier;
};

enum class Way {
  right,
  reads_early,
  announces_less,
  announces_more,
  announces_twice,
  no_barrier,
  unaligned_box
};

// A box from `from` on, and what thread 1 of 64 finds first.
__global__ void copy_kernel(const __grid_constant__ TensorMap map, int from, Way way, float* out) {
  auto& shared = *dynamic_shared<Copied>();
  if (threadIdx.x == 0 && way != Way::no_barrier) {
    shared.barrier.init(1);
    show_to_async_proxy();
  }
  __syncthreads();
  if (warp_of_block() == 0 && is_elected()) {
    const int change = way == Way::announces_less ? -16 : way == Way::announces_more ? 16 : 0;
    shared.barrier.expect(kBytes + change);
    if (way == Way::announces_twice) shared.barrier.expect(0);
    copy_box(shared.at + (way == Way::unaligned_box ? 4 : 0), map, from, shared.barrier);
  }
  __syncthreads();
  if (threadIdx.x == 1 && way == Way::reads_early) *out = shared.at[0];
  __syncthreads();  // nobody has waited
  shared.barrier.wait(0);
  if (threadIdx.x == 1 && way != Way::reads_early) *out = shared.at[0];
}

float first_copied(int from, Way way) {
  std::vector<float> x(100);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const DeviceArray<float> floats(x), out(1);
  launch(copy_kernel, 1, 64, sizeof(Copied), nullptr, map_of_floats(floats.data(), 100, kFloats),
         from, way, out.data());
  return out.values()[0];
}

BOOST_AUTO_TEST_CASE(a_copy_is_there_for_all_who_have_waited) {
  BOOST_TEST(first_copied(8, Way::right) == 8);
  BOOST_TEST(first_copied(96, Way::right) == 96);
  BOOST_TEST(first_copied(-4, Way::right) == 0);
  BOOST_TEST(std::isnan(first_copied(8, Way::reads_early)));
}

BOOST_AUTO_TEST_CASE(bytes_that_do_not_come_are_waited_for_in_vain) {
  BOOST_CHECK_EXCEPTION(
      first_copied(8, Way::announces_more), BackendError,
      says("copy_kernel", "threads 0-63", "a wait for bulk copies (copy_bulk.cuh:"));
}

BOOST_AUTO_TEST_CASE(wrong_uses_are_told) {
  const auto check = [](Way way, int from, const char* what) {
    BOOST_CHECK_EXCEPTION(first_copied(from, way), BackendError, says(what));
  };
  check(Way::announces_less, 8, "as many bytes as were announced");
  check(Way::announces_twice, 8, "a wait before bytes of the next phase");
  check(Way::no_barrier, 8, "a barrier that was initialised");
  check(Way::right, 6, "a first coordinate at a multiple of 16 bytes");
  check(Way::unaligned_box, 8, "boxes to 128");
}

BOOST_AUTO_TEST_CASE(tensors_that_the_driver_refuses_are_told) {
  const DeviceArray<float> floats(100);
  const DeviceArray<BFloat16> rows(64 * 64);
  const auto refuses = says("cuTensorMapEncodeTiled refuses a tensor");
  BOOST_CHECK_EXCEPTION(map_of_floats(floats.data() + 1, 90, 32), BackendError, refuses);
  BOOST_CHECK_EXCEPTION(map_of_floats(floats.data(), 100, 30), BackendError, refuses);
  BOOST_CHECK_EXCEPTION(map_of_floats(floats.data(), 100, 260), BackendError, refuses);
  BOOST_CHECK_EXCEPTION(map_of_floats(floats.data(), 0, 32), BackendError, refuses);
  const auto of_rows = [&](int64_t n, int64_t stride) {
    return map_of_rows(rows.data(), 64, {n, stride}, {1, 64 * 64}, {1, 64 * 64}, 64);
  };
  BOOST_CHECK_NO_THROW(of_rows(64, 64));
  BOOST_CHECK_EXCEPTION(of_rows(64, 60), BackendError, refuses);
  BOOST_CHECK_EXCEPTION(of_rows(0, 64), BackendError, refuses);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
