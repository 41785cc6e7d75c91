#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/cuda/shared.cuh"
#include "engine/cuda/sum_parts.h"
#include "engine/cuda/warp.cuh"

namespace farfield {
namespace {

constexpr int kAtOnce = 8;  // parts that a thread loads before it waits

struct PartsTile {
  double at[kWarp][kWarp + 1];
};
// 32 columns of one row of an array to a block. Warp w takes the parts w, w + 32, ...; warp c then
// sums the partial sums of column c.
__global__ void __launch_bounds__(kWarp* kWarp, 2) sum_parts_kernel(Parts parts, SumsTo to) {
  float* const sums = blockIdx.y == 0 ? to.at[0] : blockIdx.y == 1 ? to.at[1] : to.at[2];
  if (!sums) return;
  PartsTile& tile = shared<PartsTile>();
  const int warp = static_cast<int>(threadIdx.x) / kWarp,
            lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * kWarp;
  double total = 0;
  if (begin + lane < parts.n) {
    const int64_t first = blockIdx.z * parts.n_part + warp, n_row = parts.n_sum * parts.n;
    const float* from = parts.data + first * n_row + blockIdx.y * parts.n + begin + lane;
    constexpr int kStep = kAtOnce * kWarp;
    for (int64_t part = warp; part < parts.n_part; part += kStep, from += kStep * n_row) {
      float values[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
        values[i] = part + i * kWarp < parts.n_part ? from[i * kWarp * n_row] : 0;
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) total += static_cast<double>(values[i]);
    }
  }
  tile.at[warp][lane] = total;
  __syncthreads();
  total = warp_sum(tile.at[lane][warp]);
  if (lane == 0 && begin + warp < parts.n)
    sums[blockIdx.z * parts.n + begin + warp] = static_cast<float>(total);
}

}  // namespace

void sum_parts(Cuda device, const Parts& parts, const SumsTo& to) {
  const dim3 grid(blocks_for(parts.n, kWarp).x, static_cast<unsigned>(parts.n_sum),
                  static_cast<unsigned>(parts.n_outer));
  launch(sum_parts_kernel, grid, kWarp * kWarp, 0, stream_of(device), parts, to);
}

}  // namespace farfield
