#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/cuda/shared.cuh"
#include "engine/cuda/sum_parts.h"
#include "engine/cuda/warp.cuh"

namespace farfield {
namespace {

struct PartsTile {
  float at[kWarp][kWarp + 1];
};
// 32 columns to a block. Warp w takes the parts w, w + 32, ...; warp c then sums what was found for
// column c.
__global__ void __launch_bounds__(kWarp* kWarp)
    sum_parts_kernel(int64_t n_part, int n_sum, int n, const float* parts, SumsTo to) {
  PartsTile& tile = shared<PartsTile>();
  const int warp = static_cast<int>(threadIdx.x) / kWarp,
            lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * kWarp, n_column = int64_t{n_sum} * n;
  float total = 0;
  if (begin + lane < n_column)
    for (int64_t part = warp; part < n_part; part += kWarp)
      total += parts[part * n_column + begin + lane];
  tile.at[warp][lane] = total;
  __syncthreads();
  total = warp_sum(tile.at[lane][warp]);
  const int64_t column = begin + warp;
  if (lane == 0 && column < n_column) to.at[column / n][column % n] = total;
}

}  // namespace

void sum_parts(Cuda device, int64_t n_part, int n_sum, int n, const float* parts,
               const SumsTo& to) {
  launch(sum_parts_kernel, blocks_for(int64_t{n_sum} * n, kWarp), kWarp * kWarp, 0,
         stream_of(device), n_part, n_sum, n, parts, to);
}

}  // namespace farfield
