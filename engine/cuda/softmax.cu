#include <cmath>

#include "engine/cuda/context.h"
#include "engine/cuda/exp_sum.cuh"
#include "engine/cuda/store.cuh"
#include "engine/kernels/row_formulas.h"
#include "engine/kernels/softmax.h"

namespace farfield {
namespace {

template <class T, class Size>
__global__ void __launch_bounds__(Size::kBlock)
    softmax_kernel(int64_t rows, int n, bool is_aligned, bool log, const T* x, T* y) {
  constexpr int kN = kPieceSize<T>;
  using Pieces = RowPieces<Size, kN, Size::kIsAligned>;
  const int64_t i = this_row<Size>();
  if (i >= rows) return;
  const auto row = row_for_exp_sum(x + i * n, Pieces{n, is_aligned});
  const ExpSum of_row = exp_sum(row);
  const float shift = std::log(of_row.sum), factor = 1 / of_row.sum;
  row.for_each([&](int, const typename Pieces::Piece& piece, const Vector<float, kN>& values) {
    Vector<T, kN> out;
    for (int k = 0; k < kN; ++k) {
      const float difference = values.at[k] - of_row.max;
      out.at[k] = narrow<T>(log ? difference - shift : exp_of_difference(difference) * factor);
    }
    if constexpr (Size::kIsAligned)
      store_whole(out, y + i * n + piece.begin);
    else
      store(out, piece, y + i * n);
  });
}

template <class T, int kN>
struct OutputAndGradient {
  Vector<T, kN> y, dy;
};

template <class T, class Size>
__global__ void __launch_bounds__(Size::kBlock)
    softmax_backward_kernel(int64_t rows, int n, bool is_aligned, bool log, const T* y, const T* dy,
                            T* dx) {
  constexpr int kN = kPieceSize<T>;
  using Values = OutputAndGradient<T, kN>;
  const int64_t i = this_row<Size>();
  if (i >= rows) return;
  const Row row(RowPieces<Size, kN>{n, is_aligned}, [&](const Piece<kN>& piece) {
    return Values{load(y + i * n, piece), load(dy + i * n, piece)};
  });
  float total = 0;  // of dy, or of y dy; elements beyond the row are 0
  row.for_each([&](int, const Piece<kN>&, const Values& values) {
    for (int k = 0; k < kN; ++k)
      total += widen(values.dy.at[k]) * (log ? 1.0f : widen(values.y.at[k]));
  });
  total = row_sum<Size>(total);
  row.for_each([&](int, const Piece<kN>& piece, const Values& values) {
    Vector<T, kN> out;
    for (int k = 0; k < kN; ++k) {
      const float y_k = widen(values.y.at[k]), dy_k = widen(values.dy.at[k]);
      out.at[k] =
          narrow<T>(log ? log_softmax_grad(y_k, dy_k, total) : softmax_grad(y_k, dy_k, total));
    }
    store(out, piece, dx + i * n);
  });
}

}  // namespace

void softmax_forward(Cuda device, const Tensor& x, bool log, Tensor& y) {
  if (x.numel() == 0) return;
  const int64_t n = x.dim(-1), rows = x.numel() / n;
  dispatch_device_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    constexpr int kN = kPieceSize<T>;
    const bool aligned = n % kN == 0 && is_aligned(from, to);
    dispatch_row_size<T, kN>(device, n, aligned, [&](auto size, size_t shared_bytes) {
      using Size = decltype(size);
      launch(softmax_kernel<T, Size>, blocks_for_rows<Size>(rows), Size::kBlock, shared_bytes,
             stream_of(device), rows, static_cast<int>(n), aligned, log, from, to);
    });
  });
}

void softmax_backward(Cuda device, const Tensor& y, const Tensor& dy, bool log, Tensor& dx) {
  if (y.numel() == 0) return;
  const int64_t n = y.dim(-1), rows = y.numel() / n;
  dispatch_device_float(y.dtype(), [&](auto type) {
    using T = decltype(type);
    const T *const out = y.data<T>(), *const grad = dy.data<T>();
    T* const to = dx.data<T>();
    dispatch_row_size(n, [&](auto size) {
      using Size = decltype(size);
      launch(softmax_backward_kernel<T, Size>, blocks_for_rows<Size>(rows), Size::kBlock, 0,
             stream_of(device), rows, static_cast<int>(n),
             n % kPieceSize<T> == 0 && is_aligned(out, grad, to), log, out, grad, to);
    });
  });
}

}  // namespace farfield
