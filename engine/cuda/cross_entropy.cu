#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/cuda/exp_sum.cuh"
#include "engine/cuda/store.cuh"
#include "engine/kernels/cross_entropy.h"

namespace farfield {
namespace {

// The nll of each row and, if dlogits is given, its gradient, which may overwrite the logits.
template <class T, class Gradient, class Size>
__global__ void __launch_bounds__(Size::kBlock)
    cross_entropy_kernel(int64_t rows, int n, bool is_aligned, float scale, const T* logits,
                         const int* targets, float* nll, Gradient* dlogits) {
  constexpr int kN = kPieceSize<T, Gradient>;
  using Pieces = RowPieces<Size, kN, Size::kIsAligned>;
  const int64_t i = this_row<Size>();
  if (i >= rows) return;
  const int target = targets[i];
  const float at_target = target >= 0 && target < n ? widen(logits[i * n + target])
                                                    : std::numeric_limits<float>::quiet_NaN();
  const auto row = row_for_exp_sum(logits + i * n, Pieces{n, is_aligned});
  const ExpSum of_row = exp_sum(row);
  if (threadIdx.x % Size::kThreads == 0) nll[i] = std::log(of_row.sum) + (of_row.max - at_target);
  if (dlogits == nullptr) return;
  // Every thread has read the target's logit, which another may overwrite now: in a block since the
  // barriers of exp_sum(), in a warp from here on.
  if constexpr (Size::kThreads == kWarp) __syncwarp();
  const float share = scale / of_row.sum;
  row.for_each([&](int, const typename Pieces::Piece& piece, const Vector<float, kN>& x) {
    // 32 bits are compared at once; nvcc would hold all of them for a row in registers.
    const auto begin =
        static_cast<std::conditional_t<(Size::kValues > 0), int64_t, int>>(piece.begin);
    Vector<float, kN> gradient;
    for (int k = 0; k < kN; ++k) {
      const float softmax = share * exp_of_difference(x.at[k] - of_row.max);
      gradient.at[k] = begin + k == target ? softmax - scale : softmax;
    }
    const auto out = narrowed<Gradient>(gradient);
    if constexpr (Size::kIsAligned)
      store_whole(out, dlogits + i * n + piece.begin);
    else
      store(out, piece, dlogits + i * n);
  });
}

// For each row the log-sum-exp, and the target's logit if this process has it.
template <class Size>
__global__ void __launch_bounds__(Size::kBlock)
    cross_entropy_part_kernel(int64_t rows, int n, bool is_aligned, int64_t first,
                              int64_t vocab_size, const float* logits, const int* targets,
                              float* log_sum, float* at_target) {
  constexpr int kN = kPieceSize<float>;
  const int64_t i = this_row<Size>();
  if (i >= rows) return;
  const auto row = row_for_exp_sum(logits + i * n, RowPieces<Size, kN>{n, is_aligned});
  const ExpSum of_row = exp_sum(row);
  if (threadIdx.x % Size::kThreads != 0) return;
  log_sum[i] = std::log(of_row.sum) + of_row.max;
  const int64_t target = targets[i], own = target - first;
  at_target[i] = target < 0 || target >= vocab_size ? std::numeric_limits<float>::quiet_NaN()
                 : own >= 0 && own < n              ? logits[i * n + own]
                                                    : 0;
}

// A thread takes an element, which may be overwritten.
template <class Gradient>
__global__ void __launch_bounds__(kThreads)
    cross_entropy_part_backward_kernel(int64_t rows, int64_t n, int64_t first, float scale,
                                       const float* logits, const int* targets,
                                       const float* log_sum, Gradient* dlogits) {
  const int64_t at = thread_index(), i = at / n;
  if (i >= rows) return;
  const float softmax = scale * exp_of_difference(logits[at] - log_sum[i]);
  dlogits[at] = narrow<Gradient>(first + at % n == targets[i] ? softmax - scale : softmax);
}

constexpr int kMeanBlock = 1024;
__global__ void __launch_bounds__(kMeanBlock) mean_kernel(int64_t n, const float* x, float* mean) {
  double total[1] = {};
  for (int64_t i = threadIdx.x; i < n; i += kMeanBlock) total[0] += static_cast<double>(x[i]);
  block_sum(total);
  if (threadIdx.x == 0) *mean = static_cast<float>(total[0] / static_cast<double>(n));
}

template <class T, class Gradient>
void run(Cuda device, const Tensor& logits, const Tensor& targets, double scale, Tensor& nll,
         Gradient* dlogits) {
  const int64_t rows = logits.dim(0), n = logits.dim(1);
  const T* const from = logits.data<T>();
  constexpr int kN = kPieceSize<T, Gradient>;
  const bool aligned = n % kN == 0 && is_aligned(from, dlogits);
  const auto launch_with = [&](auto size, size_t shared_bytes) {
    using Size = decltype(size);
    launch(cross_entropy_kernel<T, Gradient, Size>, blocks_for_rows<Size>(rows), Size::kBlock,
           shared_bytes, stream_of(device), rows, static_cast<int>(n), aligned,
           static_cast<float>(scale), from, targets.data<int32_t>(), nll.data<float>(), dlogits);
  };
  if (dlogits == nullptr)  // looks at a row once
    dispatch_row_size(n, [&](auto size) { launch_with(size, 0); });
  else
    dispatch_row_size<T, kN>(device, n, aligned, launch_with);
}

}  // namespace

void mean_nll(Cuda device, const Tensor& nll, Tensor& loss) {
  require_device_float(nll.dtype());
  launch(mean_kernel, 1, kMeanBlock, 0, stream_of(device), nll.numel(), nll.data<float>(),
         loss.data<float>());
}

void cross_entropy_rows(Cuda device, const Tensor& logits, const Tensor& targets, double scale,
                        Tensor& nll, Tensor& dlogits) {
  if (nll.numel() == 0) return;
  dispatch_device_float(logits.dtype(), [&](auto type) {
    using T = decltype(type);
    if (!dlogits.defined())
      run<T, T>(device, logits, targets, scale, nll, nullptr);
    else
      dispatch_device_float(dlogits.dtype(), [&](auto gradient) {
        using Gradient = decltype(gradient);
        run<T>(device, logits, targets, scale, nll, dlogits.data<Gradient>());
      });
  });
}

void cross_entropy_part(Cuda device, const Tensor& logits, int64_t first, int64_t vocab_size,
                        const Tensor& targets, Tensor& log_sum, Tensor& at_target) {
  require_device_float(log_sum.dtype());
  const int64_t rows = logits.dim(0), n = logits.dim(1);
  const float* const from = logits.data<float>();
  dispatch_row_size(n, [&](auto size) {
    using Size = decltype(size);
    launch(cross_entropy_part_kernel<Size>, blocks_for_rows<Size>(rows), Size::kBlock, 0,
           stream_of(device), rows, static_cast<int>(n),
           n % kPieceSize<float> == 0 && is_aligned(from), first, vocab_size, from,
           targets.data<int32_t>(), log_sum.data<float>(), at_target.data<float>());
  });
}

void cross_entropy_part_backward(Cuda device, const Tensor& logits, int64_t first,
                                 const Tensor& targets, const Tensor& log_sum, double scale,
                                 Tensor& dlogits) {
  dispatch_device_float(dlogits.dtype(), [&](auto gradient) {
    using Gradient = decltype(gradient);
    launch(cross_entropy_part_backward_kernel<Gradient>, blocks_for(logits.numel()), kThreads, 0,
           stream_of(device), logits.dim(0), logits.dim(1), first, static_cast<float>(scale),
           logits.data<float>(), targets.data<int32_t>(), log_sum.data<float>(),
           dlogits.data<Gradient>());
  });
}

}  // namespace farfield
