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
  float eps;
  const T* x;
  const T* residual;  // null: none
  const float* weight;
  const float* bias;  // null: none
  T* sum;             // null without a residual
  T* y;
  float* mean;  // null: it counts as 0
  float* rstd;
};

// The mean and, from the kept row, the variance: a difference of sums would cancel.
template <class T, class Size, bool kIsAligned>
__global__ void __launch_bounds__(Size::kBlock, std::max(1, 768 / Size::kBlock))
    layer_norm_kernel(Forward<T> in) {
  constexpr int kN = kPieceSize<T>;
  using Pieces = RowPieces<Size, kN, kIsAligned>;
  using Piece = typename Pieces::Piece;
  const int64_t row_index = this_row<Size>();
  if (row_index >= in.rows) return;
  const int64_t at = row_index * in.d;
  const bool has_residual = in.residual != nullptr;
  const Row row(Pieces{in.d}, [&](const Piece& piece) {
    Vector<float, kN> s = widened(load(in.x + at, piece));
    if (!has_residual) return s;
    const Vector<float, kN> residual = widened(load(in.residual + at, piece));
    for (int i = 0; i < kN; ++i) s.at[i] += residual.at[i];
    return widened(narrowed<T>(s));
  });
  float mean = 0;
  if (in.mean != nullptr) {
    float total = 0;
    row.for_each([&](int, const Piece&, const Vector<float, kN>& s) {
      for (int i = 0; i < kN; ++i) total += s.at[i];
    });
    mean = row_sum<Size>(total) / static_cast<float>(in.d);
  }
  float squares = 0;
  row.for_each([&](int, const Piece& piece, const Vector<float, kN>& s) {
    for (int i = 0; i < kN; ++i)
      if (piece.has(i)) squares += (s.at[i] - mean) * (s.at[i] - mean);
  });
  const float rstd = rstd_of(row_sum<Size>(squares) / static_cast<float>(in.d), in.eps);
  row.for_each([&](int, const Piece& piece, const Vector<float, kN>& s) {
    const Vector<float, kN> weight = load(in.weight, piece);
    Vector<float, kN> bias{};
    if (in.bias != nullptr) bias = load(in.bias, piece);
    Vector<float, kN> y;
    for (int i = 0; i < kN; ++i)
      y.at[i] = normalized(s.at[i], mean, rstd) * weight.at[i] + bias.at[i];
    if (has_residual) store(narrowed<T>(s), piece, in.sum + at);
    store(narrowed<T>(y), piece, in.y + at);
  });
  if (threadIdx.x % Size::kThreads > 0) return;
  if (in.mean != nullptr) in.mean[row_index] = mean;
  in.rstd[row_index] = rstd;
}

}  // namespace

void layer_norm_forward(Cuda device, const Tensor& x, const Tensor& residual, const Tensor& weight,
                        const Tensor& bias, double eps, Tensor& sum, Tensor& y, Tensor& mean,
                        Tensor& rstd) {
  if (rstd.numel() == 0) return;
  dispatch_device_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const bool has_residual = residual.defined();
    const Forward<T> in{rstd.numel(),
                        static_cast<int>(weight.numel()),
                        static_cast<float>(eps),
                        x.data<T>(),
                        has_residual ? residual.data<T>() : nullptr,
                        weight.data<float>(),
                        bias.defined() ? bias.data<float>() : nullptr,
                        has_residual ? sum.data<T>() : nullptr,
                        y.data<T>(),
                        mean.defined() ? mean.data<float>() : nullptr,
                        rstd.data<float>()};
    const bool aligned = in.d % kPieceSize<T> == 0 &&
                         is_aligned(in.x, in.residual, in.weight, in.bias, in.sum, in.y);
    dispatch_row_size(in.d, [&](auto size) {
      using Size = decltype(size);
      launch(aligned ? layer_norm_kernel<T, Size, true> : layer_norm_kernel<T, Size, false>,
             blocks_for_rows<Size>(in.rows), Size::kBlock, 0, stream_of(device), in);
    });
  });
}

}  // namespace farfield
