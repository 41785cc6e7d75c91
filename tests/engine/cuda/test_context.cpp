#include <boost/test/unit_test.hpp>
#include <limits>
#include <optional>

#include "engine/allocator.h"
#include "engine/cuda/context.h"
#include "engine/dispatch.h"
#include "engine/tensor.h"
#include "tests/support/all_close.h"
#include "tests/support/both_devices.h"
#include "tests/support/cuda/devices.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_context)
namespace {

using emulation::emulated_devices;
using emulation::KeepDevices;
using test::kCuda;

BOOST_AUTO_TEST_CASE(a_build_with_cuda_knows_the_device) {
  BOOST_TEST((parse_device("cuda") == kCuda));
  BOOST_TEST((parse_device("cuda:3") == Device{Device::Kind::cuda, 3}));
  BOOST_TEST(dispatch(kCuda, [](auto tag) { return std::is_same_v<decltype(tag), Cuda>; }));
  BOOST_TEST(dispatch(Device{}, [](auto tag) { return std::is_same_v<decltype(tag), Cpu>; }));
}

BOOST_AUTO_TEST_CASE(a_device_has_one_stream) {
  const Cuda first = cuda_tag(kCuda), second = cuda_tag(kCuda);
  BOOST_TEST(first.stream != nullptr);
  BOOST_TEST(first.stream == second.stream);
  synchronize(first);
}

BOOST_AUTO_TEST_CASE(a_device_tells_what_it_is) {
  const DeviceInfo info = device_info(kCuda);
  BOOST_TEST(info.name == "emulated");
  BOOST_TEST(info.major == 9);
  BOOST_TEST(info.total_bytes == int64_t{1} << 36);
  BOOST_TEST(device_info(Device{}).name == "cpu");
}

BOOST_AUTO_TEST_CASE(the_shared_memory_of_a_block_is_that_of_the_device_and_asked_for_once) {
  const KeepDevices keep;
  emulated_devices().capabilities = {{8, 0}, {8, 0}, {8, 9, size_t{99} << 10}};
  const Cuda first = cuda_tag(kCuda), third = cuda_tag({Device::Kind::cuda, 2});
  BOOST_TEST(most_shared_bytes(first) == size_t{163} << 10);
  BOOST_TEST(most_shared_bytes(third) == size_t{99} << 10);
  emulated_devices().capabilities[2].shared_bytes = 1;
  BOOST_TEST(most_shared_bytes(third) == size_t{99} << 10);
}

BOOST_AUTO_TEST_CASE(hopper_alone_multiplies_by_warpgroups) {
  const KeepDevices keep;
  BOOST_TEST(multiplies_by_warpgroups(cuda_tag(kCuda)));
  const int older = emulation::add_older_device();
  BOOST_TEST(!multiplies_by_warpgroups(cuda_tag({Device::Kind::cuda, older})));
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_named) {
  const KeepDevices keep;
  const auto expect = [](const char* text) {
    BOOST_CHECK_EXCEPTION(require_device(1), DeviceError, says_exactly(text));
  };
  expect("[device] expected one of 1 GPUs, counted from cuda:0, got cuda:1");
  emulated_devices().capabilities = {{8, 0}, {7, 5}};
  expect(
      "[device] expected a GPU of compute capability 8.0 or later, got cuda:1 of 7.5; use the "
      "device cpu");
  emulated_devices().capabilities = {};
  expect("[device] cuda:1 asked for, but the driver finds no GPU; use the device cpu");
  emulated_devices().search = cudaErrorNoDevice;
  expect("[device] cuda:1 asked for, but the driver finds no GPU; use the device cpu");
  emulated_devices().search = cudaErrorInsufficientDriver;
  expect(
      "[device] cuda:1 asked for, but there is no NVIDIA driver, or one older than this build's "
      "CUDA; install a newer driver or use the device cpu");
}

BOOST_AUTO_TEST_CASE(a_device_that_is_not_there_can_be_asked_for_again) {
  const KeepDevices keep;
  const Device second{Device::Kind::cuda, 1};
  BOOST_CHECK_THROW(Tensor::zeros({3}, DType::f32, second), DeviceError);
  emulated_devices().capabilities = {{8, 0}, {9, 0}};
  const Tensor x = Tensor::full({3}, 2, DType::f32, second);
  BOOST_TEST(all_close(x, Tensor::from({2, 2, 2}, {3}), 0));
  BOOST_TEST(memory_stats(second).current_bytes >= 12);
}

BOOST_AUTO_TEST_CASE(memory_of_the_device_is_counted_and_kept) {
  release_cached_memory(kCuda);
  reset_peak_memory(kCuda);
  const int64_t before = memory_stats(kCuda).current_bytes;
  { const Storage storage(4096, kCuda); }
  BOOST_TEST(memory_stats(kCuda).current_bytes == before);
  BOOST_TEST(memory_stats(kCuda).peak_bytes == before + 4096);
  BOOST_TEST(memory_stats(kCuda).cached_bytes == (Allocator::keeps_blocks() ? 4096 : 0));
  release_cached_memory(kCuda);
  BOOST_TEST(memory_stats(kCuda).cached_bytes == 0);
}

BOOST_AUTO_TEST_CASE(memory_that_is_not_to_be_had_is_counted_up) {
  const KeepDevices keep;
  release_cached_memory(kCuda);
  const Storage held(1024, kCuda);
  emulated_devices().total_bytes = 0;
  const int64_t current = memory_stats(kCuda).current_bytes;
  const std::string text =
      concat("[memory] cuda:0: 1048576 bytes asked for, 0 free, ", current,
             " bytes already in tensors; try a smaller batch, a shorter length "
             "or checkpointing");
  BOOST_CHECK_EXCEPTION(Storage(int64_t{1} << 20, kCuda), BackendError, says_exactly(text));
  BOOST_CHECK_EXCEPTION(Tensor::empty({512, 1024}, DType::bf16, kCuda), BackendError,
                        says_exactly(text + "; it was for a tensor of bfloat16 [512, 1024]"));
}

BOOST_AUTO_TEST_CASE(memory_of_a_device_that_failed_can_be_given_back) {
  const int64_t before = memory_stats(kCuda).current_bytes;
  {
    const KeepDevices keep;
    const Storage storage(64, kCuda);
    emulated_devices().capabilities = {};
    BOOST_CHECK_EXCEPTION(cuda_tag(kCuda), BackendError,
                          says_exactly("[cuda] the choice of cuda:0: invalid device ordinal"));
  }
  BOOST_TEST(memory_stats(kCuda).current_bytes == before);
}

BOOST_AUTO_TEST_CASE(tensors_go_to_the_device_and_back) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64})
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{7, 3}, Shape{65, 33}}) {
      const Tensor x = random_tensor(shape, 3, -1, 1, dtype);
      const Tensor there = x.to(kCuda);
      BOOST_TEST((there.device() == kCuda));
      BOOST_TEST(same_bits(there.to(Device{}), x));
      BOOST_TEST(same_bits(there.clone().to(Device{}), x));
    }
  const Tensor ids = Tensor::from(std::vector<int32_t>{1, -2, 3}, {3}, kCuda);
  BOOST_TEST((ids.to_vector() == std::vector<double>{1, -2, 3}));
  BOOST_TEST(Tensor::from({1, 2, 3}, {3}, DType::bf16, kCuda).view({1}, 2).item() == 3);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
