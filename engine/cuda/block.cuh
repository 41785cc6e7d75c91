#pragma once
// Sums and maxima over the threads of a block. All of its threads must ask, and there must be whole
// warps of them, in one dimension.

#include "engine/cuda/shared.cuh"
#include "engine/cuda/warp.cuh"

namespace farfield {

/// The results of each warp of a block, kN values at a time.
template <class T, int kN>
struct WarpResults {
  T at[kN][kWarp];
};

/// Replaces each value by its sum over the block: in each warp, then over the warps in their order.
template <class T, int kN>
__device__ void block_sum(T (&values)[kN]) {
  WarpResults<T, kN>& found = shared<WarpResults<T, kN>>();
  const auto warp = static_cast<int>(threadIdx.x / kWarp),
             n_warps = static_cast<int>(blockDim.x) / kWarp;
  for (int k = 0; k < kN; ++k) values[k] = warp_sum(values[k]);
  __syncthreads();  // what was found before has been read
  if (threadIdx.x % kWarp == 0)
    for (int k = 0; k < kN; ++k) found.at[k][warp] = values[k];
  __syncthreads();
  for (int k = 0; k < kN; ++k) {
    values[k] = found.at[k][0];
    for (int i = 1; i < n_warps; ++i) values[k] += found.at[k][i];
  }
}

/// The largest value of the block. None may be NaN.
__device__ inline float block_max(float value) {
  WarpResults<float, 1>& found = shared<WarpResults<float, 1>>();
  const auto warp = static_cast<int>(threadIdx.x / kWarp),
             n_warps = static_cast<int>(blockDim.x) / kWarp;
  value = warp_max(value);
  __syncthreads();  // what was found before has been read
  if (threadIdx.x % kWarp == 0) found.at[0][warp] = value;
  __syncthreads();
  value = found.at[0][0];
  for (int i = 1; i < n_warps; ++i) value = found.at[0][i] > value ? found.at[0][i] : value;
  return value;
}

}  // namespace farfield
