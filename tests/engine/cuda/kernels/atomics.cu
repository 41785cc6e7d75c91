#include <bit>

#include "engine/cuda/launch.h"
#include "engine/cuda/shared.cuh"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

constexpr unsigned kBlock = 128, kBlocks = 3;

__global__ void histogram_kernel(const int* x, unsigned n, unsigned n_bins, int* counts) {
  int* local = dynamic_shared<int>();
  for (unsigned bin = threadIdx.x; bin < n_bins; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  const unsigned step = blockDim.x * gridDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
    atomicAdd(&local[x[i]], 1);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < n_bins; bin += blockDim.x)
    atomicAdd(&counts[bin], local[bin]);
}

// Adds by compare and swap, the way to make an atomic operation that the hardware lacks.
__device__ void add_by_cas(unsigned* bits, float value) {
  unsigned seen = *bits, assumed = 0;
  do {
    assumed = seen;
    seen = atomicCAS(bits, assumed, std::bit_cast<unsigned>(std::bit_cast<float>(assumed) + value));
  } while (seen != assumed);
}

__global__ void atomic_kernel(const int* x, unsigned n, int* largest, unsigned* sum_bits,
                              double* double_sum) {
  const unsigned step = blockDim.x * gridDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    atomicMax(largest, x[i]);
    add_by_cas(sum_bits, static_cast<float>(x[i]));
    atomicAdd(double_sum, static_cast<double>(x[i]));
  }
}

}  // namespace

std::vector<int> histogram(const std::vector<int>& x, int n_bins) {
  const auto bins = static_cast<unsigned>(n_bins);
  const DeviceArray<int> in(x), counts(bins, 0);
  launch(histogram_kernel, kBlocks, kBlock, bins * sizeof(int), nullptr, in.data(),
         static_cast<unsigned>(x.size()), bins, counts.data());
  return counts.values();
}

AtomicResults atomic_results(const std::vector<int>& x) {
  const DeviceArray<int> in(x), largest(1, x.front());
  const DeviceArray<float> sum(1, 0.0f);
  const DeviceArray<double> double_sum(1, 0.0);
  launch(atomic_kernel, kBlocks, kBlock, 0, nullptr, in.data(), static_cast<unsigned>(x.size()),
         largest.data(), reinterpret_cast<unsigned*>(sum.data()), double_sum.data());
  return {largest.values()[0], sum.values()[0], double_sum.values()[0]};
}

}  // namespace farfield::test_kernels
