#include "engine/cuda/launch.h"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

__global__ void index_kernel(int* out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, n_x = gridDim.x * blockDim.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y, n_y = gridDim.y * blockDim.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned i = x + n_x * (y + n_y * z);
  out[i] = static_cast<int>(i);
}

}  // namespace

std::vector<int> indices(std::array<unsigned, 3> grid, std::array<unsigned, 3> block) {
  const size_t n = size_t{1} * grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
  const DeviceArray<int> out(n, -1);
  launch(index_kernel, dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]), 0,
         nullptr, out.data());
  return out.values();
}

}  // namespace farfield::test_kernels
