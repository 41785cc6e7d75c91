#include <algorithm>

#include "engine/cuda/attention_sums.h"
#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/tensor.h"

namespace farfield::attention_cuda {
namespace {

// y[o, c, :] = the sum of the rows of part c of x[o, :, :], in order and in float64: n_rows rows
// cut into n_parts runs.
struct RowSums {
  int64_t n_outer, n_parts, n_rows, inner;
  int64_t row_stride;  // of x; at least inner

  int64_t count() const { return n_outer * n_parts * inner; }
};

__global__ void attention_sum_rows_kernel(RowSums sums, const float* x, float* y) {
  const int64_t i = thread_index();
  if (i >= sums.n_outer * sums.n_parts * sums.inner) return;
  const int64_t outer = i / sums.inner / sums.n_parts, part = i / sums.inner % sums.n_parts;
  const int64_t begin = part * sums.n_rows / sums.n_parts;
  const int64_t end = (part + 1) * sums.n_rows / sums.n_parts;
  const float* row = x + (outer * sums.n_rows + begin) * sums.row_stride + i % sums.inner;
  double total = 0;
  for (int64_t r = begin; r < end; ++r, row += sums.row_stride) total += static_cast<double>(*row);
  y[i] = static_cast<float>(total);
}

}  // namespace

void sum_rows(Cuda device, int64_t n_outer, int64_t n_rows, int64_t inner, int64_t row_stride,
              const float* x, float* y) {
  const auto run = [&](const RowSums& sums, const float* from, float* to) {
    launch(attention_sum_rows_kernel, blocks_for(sums.count()), kThreads, 0, stream_of(device),
           sums, from, to);
  };
  constexpr int64_t kRun = 64, kMostParts = 128;
  const int64_t n_parts = std::min((n_rows + kRun - 1) / kRun, kMostParts);
  if (n_parts <= 1) return run({n_outer, 1, n_rows, inner, row_stride}, x, y);
  Tensor partial =
      Tensor::empty({n_outer, n_parts, inner}, DType::f32, {Device::Kind::cuda, device.index});
  run({n_outer, n_parts, n_rows, inner, row_stride}, x, partial.data<float>());
  run({n_outer, 1, n_parts, inner, inner}, partial.data<float>(), y);
}

}  // namespace farfield::attention_cuda
