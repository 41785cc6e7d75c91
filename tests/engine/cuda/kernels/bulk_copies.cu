#include "engine/cuda/copy_bulk.cuh"
#include "engine/cuda/shared.cuh"
#include "engine/cuda/swizzle.h"
#include "engine/cuda/warp.cuh"
#include "engine/cuda/wgmma.cuh"
#include "tests/engine/cuda/kernels/kernels.h"
#include "tests/support/cuda/device_array.h"

namespace farfield::test_kernels {
namespace {

constexpr int kThreads = 64;
constexpr int kN = kSwizzledColumns, kRows = BulkCopies::kRows, kFloats = BulkCopies::kFloats,
              kBytes = BulkCopies::kBytes;

struct alignas(kSwizzledAlignment) Copied {
  BFloat16 rows[kRows * kN];
  float floats[kFloats];
  float bytes[kBytes];
  CopyBarrier barrier;
};

// Box after box through the same memory; one warp loads rows, the other one the rest.
__global__ void bulk_copies_kernel([[maybe_unused]] const __grid_constant__ TensorMap rows,
                                   [[maybe_unused]] const __grid_constant__ TensorMap floats,
                                   [[maybe_unused]] const float* bytes,
                                   [[maybe_unused]] const int* places, [[maybe_unused]] int n_box,
                                   [[maybe_unused]] float* to) {
#ifdef FARFIELD_HAS_WGMMA
  auto& shared = *dynamic_shared<Copied>();
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    shared.barrier.init(2);
    show_to_async_proxy();
  }
  __syncthreads();
  const int warp = warp_of_block();
  for (int i = 0; i < n_box; ++i) {
    const int* const place = places + 4 * i;
    if (warp == 0 && is_elected()) {
      shared.barrier.expect(sizeof(shared.rows));
      copy_box(shared.rows, rows, 0, place[0], place[1], place[2], shared.barrier);
    }
    if (warp == 1 && is_elected()) {
      shared.barrier.expect(sizeof(shared.floats) + sizeof(shared.bytes));
      copy_box(shared.floats, floats, place[3], shared.barrier);
      copy_bytes(shared.bytes, bytes + 4 * i, sizeof(shared.bytes), shared.barrier);
    }
    shared.barrier.wait(static_cast<uint32_t>(i % 2));
    for (int x = thread; x < kRows * kN; x += kThreads) {
      const int row = x / kN, column = x % kN;
      const int at = kN * row + ((column / 8) ^ (row % 8)) * 8 + column % 8;
      to[x] = static_cast<float>(shared.rows[at]);
    }
    for (int x = thread; x < kFloats; x += kThreads) to[kRows * kN + x] = shared.floats[x];
    for (int x = thread; x < kBytes; x += kThreads) to[kRows * kN + kFloats + x] = shared.bytes[x];
    to += kRows * kN + kFloats + kBytes;
    __syncthreads();  // all have read
  }
#endif
}

}  // namespace

std::vector<float> bulk_copies(const BulkCopies& copies) {
  if (!has_products_of_warpgroups()) return {};
  const std::vector<BFloat16> rounded(copies.rows.begin(), copies.rows.end());
  const DeviceArray<BFloat16> rows(rounded);
  const DeviceArray<float> floats(copies.floats), bytes(copies.bytes);
  const DeviceArray<int> places(copies.places);
  const int n_box = static_cast<int>(copies.places.size() / 4);
  const DeviceArray<float> to(static_cast<size_t>(n_box * (kRows * kN + kFloats + kBytes)));
  // [batch, row, head, component]
  const TensorMap row_map =
      map_of_rows(rows.data(), kN, {copies.n_row, int64_t{copies.n_head} * kN}, {copies.n_head, kN},
                  {copies.n_batch, int64_t{copies.n_row} * copies.n_head * kN}, kRows);
  const TensorMap float_map =
      map_of_floats(floats.data(), static_cast<int64_t>(copies.floats.size()), kFloats);
  launch(bulk_copies_kernel, 1, kThreads, sizeof(Copied), nullptr, row_map, float_map, bytes.data(),
         places.data(), n_box, to.data());
  return to.values();
}

}  // namespace farfield::test_kernels
