#include "engine/cuda/launch.h"
#include "engine/cuda/pack.cuh"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

__global__ void round_kernel(const float* x, uint32_t* as_pair, uint32_t* one_by_one) {
  const auto i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  as_pair[i] = round_and_pack(x[2 * i], x[2 * i + 1]);
  one_by_one[i] = pack(BFloat16(x[2 * i]), BFloat16(x[2 * i + 1]));
}

}  // namespace

RoundedPairs rounded_pairs(const std::vector<float>& x) {
  constexpr unsigned kBlock = 64;
  const size_t n = x.size() / 2;
  const DeviceArray<float> from(x);
  const DeviceArray<uint32_t> as_pair(n), one_by_one(n);
  launch(round_kernel, static_cast<unsigned>(n) / kBlock, kBlock, 0, nullptr, from.data(),
         as_pair.data(), one_by_one.data());
  return {as_pair.values(), one_by_one.values()};
}

}  // namespace farfield::test_kernels
