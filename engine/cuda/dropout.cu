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

}  // namespace

void dropout(Cuda device, const DropoutMask& mask, const Tensor& x, Tensor& y) {
  if (x.numel() == 0) return;
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    launch(dropout_kernel<T>, blocks_for((x.numel() + kGroup - 1) / kGroup), kThreads, 0,
           stream_of(device), x.numel(), is_aligned(from, to), mask,
           static_cast<Accumulate<T>>(mask.scale()), from, to);
  });
}

}  // namespace farfield
