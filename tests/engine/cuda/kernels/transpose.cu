#include "engine/cuda/launch.h"
#include "engine/cuda/shared.cuh"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

constexpr int kTile = 32, kRowsAtOnce = 8;

struct Tile {
  float at[kTile][kTile + 1];  // one more: a column lies in 32 banks
};

__global__ void transpose_kernel(const float* x, int rows, int cols, float* y) {
  Tile& tile = shared<Tile>();
  const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
  const int row0 = static_cast<int>(blockIdx.y) * kTile,
            col0 = static_cast<int>(blockIdx.x) * kTile;
  for (int i = ty; i < kTile; i += kRowsAtOnce)
    if (row0 + i < rows && col0 + tx < cols) tile.at[i][tx] = x[(row0 + i) * cols + col0 + tx];
  __syncthreads();
  for (int i = ty; i < kTile; i += kRowsAtOnce)
    if (col0 + i < cols && row0 + tx < rows) y[(col0 + i) * rows + row0 + tx] = tile.at[tx][i];
}

}  // namespace

std::vector<float> transpose(const std::vector<float>& x, int rows, int cols) {
  const DeviceArray<float> in(x), out(x.size());
  const auto tiles = [](int n) { return static_cast<unsigned>((n + kTile - 1) / kTile); };
  launch(transpose_kernel, dim3(tiles(cols), tiles(rows)), dim3(kTile, kRowsAtOnce), 0, nullptr,
         in.data(), rows, cols, out.data());
  return out.values();
}

}  // namespace farfield::test_kernels
