// A stable counting sort: chunks of positions count their ids apart, and their counts are added in
// the order of the chunks, then of the ids.

#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/cuda/positions_of_ids.h"
#include "engine/cuda/shared.cuh"

namespace farfield {
namespace {

constexpr int kChunkIds = 1024;

struct ChunkIds {
  int row[kChunkIds];
};

// The row of a position's id, or -1.
__device__ int row_of(int i, int n, int64_t first, int64_t n_row, const int* ids) {
  if (i >= n) return -1;
  const int64_t row = ids[i] - first;
  return row >= 0 && row < n_row ? static_cast<int>(row) : -1;
}

// slot[i] = how often the id of i stands before it in its chunk; counts[chunk, row] = how often in
// the chunk. A block takes a chunk.
__global__ void __launch_bounds__(kChunkIds)
    count_kernel(int n, int64_t first, int64_t n_row, const int* ids, int* slot, int* counts) {
  ChunkIds& chunk = shared<ChunkIds>();
  const auto at = static_cast<int>(threadIdx.x), begin = static_cast<int>(blockIdx.x) * kChunkIds;
  const int row = row_of(begin + at, n, first, n_row, ids);
  chunk.row[at] = row;
  __syncthreads();
  if (row < 0) return;
  const int n_here = n - begin < kChunkIds ? n - begin : kChunkIds;
  int before = 0, others = 0;
  for (int j = 0; j < n_here; ++j) {
    const bool is_equal = chunk.row[j] == row;
    before += is_equal && j < at;
    others += is_equal && j > at;
  }
  slot[begin + at] = before;
  if (others == 0) counts[static_cast<int64_t>(blockIdx.x) * n_row + row] = before + 1;
}

// counts[chunk, row] becomes the count of all earlier chunks, size[row] the count of all chunks.
__global__ void add_chunks_kernel(int n_chunk, int64_t n_row, int* counts, int* size) {
  const int64_t row = thread_index();
  if (row >= n_row) return;
  int total = 0;
  for (int chunk = 0; chunk < n_chunk; ++chunk) {
    int& count = counts[chunk * n_row + row];
    const int own = count;
    count = total;
    total += own;
  }
  size[row] = total;
}

struct ThreadSums {
  int sum[kChunkIds];
};

// begin[row] = the sum of size before it: by one block, each thread of which takes some rows.
__global__ void __launch_bounds__(kChunkIds)
    add_rows_kernel(int64_t n_row, const int* size, int* begin) {
  ThreadSums& sums = shared<ThreadSums>();
  const auto at = static_cast<int>(threadIdx.x);
  const int64_t n_own = (n_row + kChunkIds - 1) / kChunkIds, first = at * n_own,
                last = first + n_own < n_row ? first + n_own : n_row;
  int own = 0;
  for (int64_t row = first; row < last; ++row) own += size[row];
  sums.sum[at] = own;
  __syncthreads();
  for (int step = 1; step < kChunkIds; step *= 2) {
    const int before = at >= step ? sums.sum[at - step] : 0;
    __syncthreads();
    sums.sum[at] += before;
    __syncthreads();
  }
  int next = sums.sum[at] - own;
  for (int64_t row = first; row < last; ++row) {
    begin[row] = next;
    next += size[row];
  }
}

// slot[i] counts from the first chunk on.
__global__ void place_kernel(int n, int64_t first, int64_t n_row, const int* ids, const int* before,
                             const int* begin, int* slot, int* order) {
  const auto i = static_cast<int>(thread_index());
  if (i >= n) return;
  const int row = row_of(i, n, first, n_row, ids);
  if (row < 0) {
    slot[i] = -1;
    return;
  }
  const int own = slot[i] + before[i / kChunkIds * n_row + row];
  slot[i] = own;
  order[begin[row] + own] = i;
}

}  // namespace

PositionsOfIds positions_of_ids(Cuda device, int64_t first, int64_t n_row, const Tensor& ids) {
  const int64_t n_id = ids.numel(), n_chunk = (n_id + kChunkIds - 1) / kChunkIds;
  const auto empty = [&](const Shape& shape) {
    return Tensor::empty(shape, DType::i32, ids.device());
  };
  PositionsOfIds made{empty({n_id}), empty({n_id}), empty({n_row}), empty({n_row})};
  if (n_id == 0) return made;
  Tensor counts = Tensor::zeros({n_chunk, n_row}, DType::i32, ids.device());
  const auto n = static_cast<int>(n_id);
  const int* const id = ids.data<int32_t>();
  int *const slot = made.slot.data<int32_t>(), *const begin = made.begin.data<int32_t>(),
             *const size = made.size.data<int32_t>();
  launch(count_kernel, static_cast<unsigned>(n_chunk), kChunkIds, 0, stream_of(device), n, first,
         n_row, id, slot, counts.data<int32_t>());
  launch(add_chunks_kernel, blocks_for(n_row), kThreads, 0, stream_of(device),
         static_cast<int>(n_chunk), n_row, counts.data<int32_t>(), size);
  launch(add_rows_kernel, 1, kChunkIds, 0, stream_of(device), n_row, size, begin);
  launch(place_kernel, blocks_for(n_id), kThreads, 0, stream_of(device), n, first, n_row, id,
         counts.data<int32_t>(), begin, slot, made.order.data<int32_t>());
  return made;
}

}  // namespace farfield
