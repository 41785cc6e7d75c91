// NCCL itself with one process and one device: all that a single card can show of it. What several
// processes do together is test_cuda_group's, on emulated devices.

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <vector>

#include "engine/autograd.h"
#include "engine/distributed/device_group.h"
#include "engine/ops/pointwise.h"
#include "tests/support/all_close.h"
#include "tests/support/random_tensor.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_cuda_nccl)  // ctest: gpu
namespace {

const Device kDevice{Device::Kind::cuda, 0};

struct OneProcess {
  comm::Communicator alone;
  std::unique_ptr<DeviceGroup> group = make_device_group(alone, kDevice);
};

BOOST_FIXTURE_TEST_CASE(a_sum_over_one_process_keeps_every_bit, OneProcess) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const int64_t n : {1, 1000, 4'000'000}) {
      const Tensor host = random_tensor({n}, 5, -1, 1, dtype);
      Tensor x = host.to(kDevice);
      group->sum(x);
      group->join();
      BOOST_TEST(all_close(x.to(Device{}), host, 0));
    }
}

BOOST_FIXTURE_TEST_CASE(one_process_keeps_all_parts, OneProcess) {
  for (const int64_t n : {5, 1000, 4'000'000}) {
    const Tensor host = random_tensor({n}, 6, -1, 1, DType::f32);
    Tensor x = host.to(kDevice);
    group->reduce_scatter(x, 16);
    group->all_gather(x, 16);
    group->join();
    BOOST_TEST(all_close(x.to(Device{}), host, 0));
  }
}

// A sum contains the device's earlier work, and work queued after join() sees the sum.
BOOST_FIXTURE_TEST_CASE(a_sum_waits_for_kernels_and_kernels_wait_for_a_sum, OneProcess) {
  const NoGrad no_grad;
  Tensor x = Tensor::full({4'000'000}, 1, DType::f32, kDevice);
  float want = 1;
  for (int i = 0; i < 20; ++i) {
    x = x * 2 + 1;
    want = want * 2 + 1;
    group->sum(x);
    group->join();
  }
  const Tensor got = x.to(Device{});
  const float* const values = got.data<float>();
  BOOST_TEST(std::accumulate(values, values + got.numel(), true,
                             [&](bool all, float value) { return all && value == want; }));
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
