#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/kernels/dropout.h"

namespace farfield {
namespace {

constexpr int kGroup = DropoutMask::kGroup;

// A thread takes the elements that share a block of random bits, whatever their type.
template <class T>
__global__ void __launch_bounds__(kThreads)
    dropout_kernel(int64_t n, bool is_aligned, DropoutMask mask, Accumulate<T> scale, const T* x,
                   T* y) {
  const Piece<kGroup> piece = this_piece<kGroup>(n, is_aligned);
  Vector<T, kGroup> values = load(x, piece);
  const PhiloxBlock bits = mask.bits(piece.begin / kGroup);
  for (int i = 0; i < kGroup; ++i)
    values.at[i] = mask.keeps(bits, i) ? narrow<T>(widen(values.at[i]) * scale) : T{};
  store(values, piece, y);
}

// Rows of some columns of an array: element (r, c) is number r n_column + first_column + c of it. A
// thread takes what a row has of a group.
template <class T>
__global__ void __launch_bounds__(kThreads)
    drop_columns_kernel(int64_t n_row, int64_t width, int64_t groups, DropoutMask mask,
                        Accumulate<T> scale, const T* x, T* y) {
  const int64_t row = thread_index() / groups;
  if (row >= n_row) return;
  const int64_t first = row * mask.n_column + mask.first_column,
                group = first / kGroup + thread_index() % groups;
  const PhiloxBlock bits = mask.bits(group);
  for (int j = 0; j < kGroup; ++j) {
    const int64_t c = group * kGroup + j - first;
    if (c < 0 || c >= width) continue;
    const int64_t i = row * width + c;
    y[i] = mask.keeps(bits, j) ? narrow<T>(widen(x[i]) * scale) : T{};
  }
}

}  // namespace

void dropout(Cuda device, const DropoutMask& mask, const Tensor& x, Tensor& y) {
  if (x.numel() == 0) return;
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    const auto scale = static_cast<Accumulate<T>>(mask.scale());
    if (mask.n_column > 0) {
      const int64_t width = x.dim(-1), n_row = x.numel() / width;
      const int64_t groups = (width + kGroup - 2) / kGroup + 1;  // with any first column
      launch(drop_columns_kernel<T>, blocks_for(n_row * groups), kThreads, 0, stream_of(device),
             n_row, width, groups, mask, scale, from, to);
      return;
    }
    launch(dropout_kernel<T>, blocks_for((x.numel() + kGroup - 1) / kGroup), kThreads, 0,
           stream_of(device), x.numel(), is_aligned(from, to), mask, scale, from, to);
  });
}

}  // namespace farfield
