#include "engine/cuda/launch.h"
#include "engine/cuda/shared.cuh"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kAll = 0xffffffffu;

__global__ void warp_kernel(const float* x, float* by_xor, float* by_down, float* running,
                            float* third) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % warpSize, warp = i / warpSize;
  float sum = x[i];
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAll, sum, step);
  if (lane == 7) by_xor[warp] = sum;  // every lane has it

  float down = x[i];
  for (unsigned step = warpSize / 2; step > 0; step /= 2)
    down += __shfl_down_sync(kAll, down, step);
  if (lane == 0) by_down[warp] = down;

  float before = x[i];
  for (unsigned step = 1; step < warpSize; step *= 2) {
    const float other = __shfl_up_sync(kAll, before, step);
    if (lane >= step) before += other;
  }
  running[i] = before;

  const float broadcast = __shfl_sync(kAll, x[i], 3);
  if (lane == 31) third[warp] = broadcast;
}

struct Partial {
  float sum[kBlock];
};

__global__ void block_sum_kernel(const float* x, unsigned n, float* sums) {
  Partial& partial = shared<Partial>();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  partial.sum[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (unsigned step = kBlock / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial.sum[threadIdx.x] += partial.sum[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial.sum[0];
}

}  // namespace

WarpResults warp_results(const std::vector<float>& x) {
  const DeviceArray<float> in(x), by_xor(x.size() / 32), by_down(x.size() / 32), running(x.size()),
      third(x.size() / 32);
  launch(warp_kernel, static_cast<unsigned>(x.size()) / kBlock, kBlock, 0, nullptr, in.data(),
         by_xor.data(), by_down.data(), running.data(), third.data());
  return {by_xor.values(), by_down.values(), running.values(), third.values()};
}

std::vector<float> block_sums(const std::vector<float>& x) {
  const auto n = static_cast<unsigned>(x.size());
  const unsigned n_blocks = (n + kBlock - 1) / kBlock;
  const DeviceArray<float> in(x), sums(n_blocks);
  launch(block_sum_kernel, n_blocks, kBlock, 0, nullptr, in.data(), n, sums.data());
  return sums.values();
}

}  // namespace farfield::test_kernels
