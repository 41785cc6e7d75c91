#include "engine/cuda/launch.h"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

__global__ void vote_kernel(const float* x, unsigned* ballot, int* any, int* all) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_positive = x[i] > 0;
  const unsigned lanes = __ballot_sync(0xffffffffu, is_positive);
  const int is_any = __any_sync(0xffffffffu, is_positive);
  const int is_all = __all_sync(0xffffffffu, is_positive);
  __syncwarp();
  if (threadIdx.x % warpSize == 0) {
    ballot[i / warpSize] = lanes;
    any[i / warpSize] = is_any;
    all[i / warpSize] = is_all;
  }
}

}  // namespace

Votes votes(const std::vector<float>& x) {
  constexpr unsigned kBlock = 64;
  const DeviceArray<float> in(x);
  const DeviceArray<unsigned> ballot(x.size() / 32);
  const DeviceArray<int> any(x.size() / 32), all(x.size() / 32);
  launch(vote_kernel, static_cast<unsigned>(x.size()) / kBlock, kBlock, 0, nullptr, in.data(),
         ballot.data(), any.data(), all.data());
  return {ballot.values(), any.values(), all.values()};
}

}  // namespace farfield::test_kernels
