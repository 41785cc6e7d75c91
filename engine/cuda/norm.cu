#include "engine/cuda/context.h"
#include "engine/cuda/row.cuh"
#include "engine/kernels/norm.h"
#include "engine/kernels/row_formulas.h"

namespace farfield {
namespace {

template <class T>
struct Forward {
  int64_t rows;
  int d;
  bool is_aligned;
  float eps;
  const T* x;
  const T* residual;  // null: none
  const float* weight;
  const float* bias;
  T* sum;  // null without a residual
  T* y;
  float* mean;
  float* rstd;
};

// The mean and, from the kept row, the variance: a difference of sums would cancel.
template <class T, class Size>
__global__ void __launch_bounds__(Size::kBlock) layer_norm_kernel(Forward<T> in) {
  constexpr int kN = kPieceSize<T>;
  const int64_t row_index = this_row<Size>();
  if (row_index >= in.rows) return;
  const int64_t at = row_index * in.d;
  const bool has_residual = in.residual != nullptr;
  const RowPieces<Size, kN> pieces{in.d, in.is_aligned};
  const Row row(pieces, [&](const Piece<kN>& piece) {
    const Vector<T, kN> x = load(in.x + at, piece);
    Vector<float, kN> s;
    for (int i = 0; i < kN; ++i) s.at[i] = widen(x.at[i]);
    if (has_residual) {
      const Vector<T, kN> residual = load(in.residual + at, piece);
      for (int i = 0; i < kN; ++i) s.at[i] = widen(narrow<T>(s.at[i] + widen(residual.at[i])));
    }
    return s;
  });
  float total = 0;
  row.for_each([&](int, const Piece<kN>&, const Vector<float, kN>& s) {
    for (int i = 0; i < kN; ++i) total += s.at[i];
  });
  const float mean = row_sum<Size>(total) / static_cast<float>(in.d);
  float squares = 0;
  row.for_each([&](int, const Piece<kN>& piece, const Vector<float, kN>& s) {
    for (int i = 0; i < kN; ++i)
      if (i < piece.n) squares += (s.at[i] - mean) * (s.at[i] - mean);
  });
  const float rstd = rstd_of(row_sum<Size>(squares) / static_cast<float>(in.d), in.eps);
  row.for_each([&](int, const Piece<kN>& piece, const Vector<float, kN>& s) {
    const Vector<float, kN> weight = load(in.weight, piece), bias = load(in.bias, piece);
    Vector<T, kN> sum, y;
    for (int i = 0; i < kN; ++i) {
      sum.at[i] = narrow<T>(s.at[i]);
      y.at[i] = narrow<T>(normalized(s.at[i], mean, rstd) * weight.at[i] + bias.at[i]);
    }
    if (has_residual) store(sum, piece, in.sum + at);
    store(y, piece, in.y + at);
  });
  if (threadIdx.x % Size::kThreads > 0) return;
  in.mean[row_index] = mean;
  in.rstd[row_index] = rstd;
}

}  // namespace

void layer_norm_forward(Cuda device, const Tensor& x, const Tensor& residual, const Tensor& weight,
                        const Tensor& bias, double eps, Tensor& sum, Tensor& y, Tensor& mean,
                        Tensor& rstd) {
  if (mean.numel() == 0) return;
  dispatch_device_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const bool has_residual = residual.defined();
    Forward<T> in{mean.numel(),
                  static_cast<int>(weight.numel()),
                  false,
                  static_cast<float>(eps),
                  x.data<T>(),
                  has_residual ? residual.data<T>() : nullptr,
                  weight.data<float>(),
                  bias.data<float>(),
                  has_residual ? sum.data<T>() : nullptr,
                  y.data<T>(),
                  mean.data<float>(),
                  rstd.data<float>()};
    in.is_aligned = in.d % kPieceSize<T> == 0 &&
                    is_aligned(in.x, in.residual, in.weight, in.bias, in.sum, in.y);
    dispatch_row_size(in.d, [&](auto size) {
      using Size = decltype(size);
      launch(layer_norm_kernel<T, Size>, blocks_for_rows<Size>(in.rows), Size::kBlock, 0,
             stream_of(device), in);
    });
  });
}

}  // namespace farfield
