#include "engine/cuda/launch.h"
#include "engine/cuda/mma.cuh"
#include "engine/dtype.h"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

__device__ uint32_t pair_of(float first, float second) {
  return BFloat16(first).bits | static_cast<uint32_t>(BFloat16(second).bits) << 16;
}

// A warp for each 16 x 8 tile of c.
__global__ void matmul_kernel(const float* a, const float* b, int n, int k, float* c) {
  const int group = static_cast<int>(threadIdx.x) / 4, member = static_cast<int>(threadIdx.x) % 4;
  const int row0 = static_cast<int>(blockIdx.y) * 16, col0 = static_cast<int>(blockIdx.x) * 8;
  float sum[4] = {};
  for (int k0 = 0; k0 < k; k0 += 16) {
    uint32_t left[4], right[2];
    for (int r = 0; r < 4; ++r) {
      const float* x = a + (row0 + group + r % 2 * 8) * k + k0 + 2 * member + r / 2 * 8;
      left[r] = pair_of(x[0], x[1]);
    }
    for (int r = 0; r < 2; ++r) {
      const float* x = b + (k0 + 2 * member + 8 * r) * n + col0 + group;
      right[r] = pair_of(x[0], x[n]);
    }
    mma_m16n8k16(sum, left, right, sum);
  }
  for (int i = 0; i < 4; ++i)
    c[(row0 + group + i / 2 * 8) * n + col0 + 2 * member + i % 2] = sum[i];
}

}  // namespace

std::vector<float> matmul(const std::vector<float>& a, const std::vector<float>& b, int m, int n,
                          int k) {
  const DeviceArray<float> left(a), right(b), out(static_cast<size_t>(m * n));
  launch(matmul_kernel, dim3(static_cast<unsigned>(n) / 8, static_cast<unsigned>(m) / 16), 32, 0,
         nullptr, left.data(), right.data(), n, k, out.data());
  return out.values();
}

}  // namespace farfield::test_kernels
