#include "engine/cuda/copy_async.cuh"
#include "engine/cuda/load_matrix.cuh"
#include "engine/cuda/pack.cuh"
#include "engine/cuda/shared.cuh"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

struct alignas(16) Rows {
  BFloat16 at[32][8];
};

__global__ void load_matrices_kernel(const float* x, bool is_transposed, float* pairs) {
  auto& rows = shared<Rows>();
  const auto lane = static_cast<int>(threadIdx.x);
  for (int c = 0; c < 8; c += 2) {
    const uint32_t packed = round_and_pack(x[8 * lane + c], x[8 * lane + c + 1]);
    rows.at[lane][c] = BFloat16(first_of(packed));
    rows.at[lane][c + 1] = BFloat16(second_of(packed));
  }
  __syncwarp();
  uint32_t r[4];
  if (is_transposed)
    load_matrices_transposed(r, rows.at[lane]);
  else
    load_matrices(r, rows.at[lane]);
  for (int i = 0; i < 4; ++i) {
    pairs[8 * lane + 2 * i] = first_of(r[i]);
    pairs[8 * lane + 2 * i + 1] = second_of(r[i]);
  }
}

struct alignas(16) Copied {
  float at[128][5][4];
};

// Every fifth piece is missing; the last piece has 4 bytes.
__global__ void copy_kernel(const float* x, float* y) {
  auto& copied = shared<Copied>();
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 4; ++i)
    copy_async<16>(copied.at[thread][i], x + (thread * 5 + i) * 4, (thread + i) % 5 != 0);
  for (int i = 0; i < 4; ++i)
    copy_async<4>(&copied.at[thread][4][i], x + (thread * 5 + 4) * 4 + i, true);
  wait_for_copies();
  __syncthreads();
  const int other = 127 - thread;
  for (int i = 0; i < 20; ++i) y[other * 20 + i] = copied.at[other][i / 4][i % 4];
}

}  // namespace

std::vector<float> matrix_pairs(const std::vector<float>& x, bool is_transposed) {
  const DeviceArray<float> from(x), to(x.size());
  launch(load_matrices_kernel, 1, 32, 0, nullptr, from.data(), is_transposed, to.data());
  return to.values();
}

std::vector<float> copied(const std::vector<float>& x) {
  const DeviceArray<float> from(x), to(x.size());
  launch(copy_kernel, 1, 128, 0, nullptr, from.data(), to.data());
  return to.values();
}

}  // namespace farfield::test_kernels
