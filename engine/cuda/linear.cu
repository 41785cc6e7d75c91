#include "engine/cuda/blas.h"
#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/cuda/shared.cuh"
#include "engine/cuda/store.cuh"
#include "engine/cuda/sum_parts.h"
#include "engine/cuda/warp.cuh"
#include "engine/kernels/functors.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/pointwise.h"

namespace farfield {
namespace {

// u = product + bias, rounded once: the library adds the bias while a sum is in registers, and a
// pass of our own would read and write u once more. The library wants the bias in the type of u, so
// for bfloat16 the bias is rounded first, like the weights.
void product_and_bias(Cuda device, const Gemm& product, const Tensor& bias, Tensor& u) {
  const Tensor own = bias.to(u.dtype());
  if (blas_product(device, {.first = product, .bias = own.raw_data()})) return;
  // The library adds no bias for some shapes.
  gemm(device, product);
  binary_forward(device, binary_op<Add>, u, own, u);
}

constexpr int kGroups = 8;     // warps of a block, each with a row at a time
constexpr int64_t kRows = 32;  // of a block, summed together
constexpr int kBlock = kGroups * kWarp;

template <int kN>
struct GroupSums {
  float of[kGroups][kN][kWarp];  // by group, place in the piece and lane: no two of a warp collide
};

// du = dy f'(u) for kRows rows and the columns of a warp, and the sums of the stored (rounded) du
// over these rows: partial[rows / kRows, n], unless it is null.
template <class F, class T>
__global__ void __launch_bounds__(kBlock)
    linear_backward_kernel(int64_t rows, int64_t n, int64_t n_column_blocks, bool is_aligned, F f,
                           const T* u, const T* dy, T* du, float* partial) {
  constexpr int kN = kPieceSize<T>;
  constexpr int kColumns = kWarp * kN;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int group = static_cast<int>(threadIdx.x) / kWarp;
  const int64_t chunk = blockIdx.x / n_column_blocks;
  const int64_t first_column = blockIdx.x % n_column_blocks * kColumns;
  const int64_t column = first_column + lane * kN, left = n - column;
  const int own = left <= 0 ? 0 : left < kN ? static_cast<int>(left) : kN;
  const int64_t end = (chunk + 1) * kRows < rows ? (chunk + 1) * kRows : rows;

  float sums[kN] = {};
  for (int64_t row = chunk * kRows + group; row < end; row += kGroups) {
    const Piece<kN> piece{row * n + column, own, is_aligned && own == kN};
    Vector<T, kN> g = load(dy, piece);
    if constexpr (F::kHasActivation) {
      const Vector<T, kN> in = load(u, piece);
      for (int i = 0; i < kN; ++i) g.at[i] = narrow<T>(widen(g.at[i]) * f(widen(in.at[i])));
      if (piece.is_whole)
        store_whole(g, du + piece.begin);
      else
        store(g, piece, du);
    }
    for (int i = 0; i < kN; ++i) sums[i] += widen(g.at[i]);
  }
  if (!partial) return;

  auto& group_sums = shared<GroupSums<kN>>();
  for (int i = 0; i < kN; ++i) group_sums.of[group][i][lane] = sums[i];
  __syncthreads();
  const int own_column = static_cast<int>(threadIdx.x);
  if (own_column >= kColumns || first_column + own_column >= n) return;
  float total = 0;
  for (int i = 0; i < kGroups; ++i) total += group_sums.of[i][own_column % kN][own_column / kN];
  partial[chunk * n + first_column + own_column] = total;
}

struct NoActivation {
  static constexpr bool kHasActivation = false;
};
struct GeluSlope {
  static constexpr bool kHasActivation = true;
  FARFIELD_HD float operator()(float u) const { return Gelu().grad(u, u); }
};

template <class F>
void backward_pass(Cuda device, const F& f, int64_t rows, int64_t n, const Tensor& u,
                   const Tensor& dy, Tensor& du, float* partial) {
  dispatch_device_float(dy.dtype(), [&](auto type) {
    using T = decltype(type);
    constexpr int kN = kPieceSize<T>;
    const T* const from_dy = dy.data<T>();
    const T* const from_u = F::kHasActivation ? u.data<T>() : nullptr;
    T* const to_du = F::kHasActivation ? du.data<T>() : nullptr;
    const int64_t n_column_blocks = (n + kWarp * kN - 1) / (kWarp * kN);
    const int64_t n_chunks = (rows + kRows - 1) / kRows;
    launch(linear_backward_kernel<F, T>, static_cast<unsigned>(n_column_blocks * n_chunks), kBlock,
           0, stream_of(device), rows, n, n_column_blocks,
           n % kN == 0 && is_aligned(from_u, from_dy, to_du), f, from_u, from_dy, to_du, partial);
  });
}

}  // namespace

void linear_forward(Cuda device, const Tensor& x, const Tensor& w, const Tensor& bias,
                    Activation activation, Tensor& kept, Tensor& y) {
  require_device_float(x.dtype());
  Tensor u = activation == Activation::none ? y : kept.defined() ? kept : empty_like(y);
  if (u.numel() == 0) return;
  const Gemm product = product_of({x}, {w, true}, u);
  if (bias.defined())
    product_and_bias(device, product, bias, u);
  else
    gemm(device, product);
  // Not in the library's epilogue, which does not say which form of GELU it has: ours is the exact.
  if (activation == Activation::gelu) unary_forward(device, unary_op<Gelu>, u, y);
}

void linear_activation_backward(Cuda device, const Tensor& kept, const Tensor& dy,
                                Activation activation, Tensor& du, Tensor& dbias) {
  require_device_float(dy.dtype());
  const int64_t n = dy.dim(-1), rows = n == 0 ? 0 : dy.numel() / n;
  const bool has_activation = activation == Activation::gelu;
  if (!has_activation && !dbias.defined()) return;
  if (rows == 0) {
    if (dbias.defined()) fill(device, 0, dbias);
    return;
  }
  const int64_t n_chunks = (rows + kRows - 1) / kRows;
  Tensor partial = dbias;
  if (dbias.defined() && n_chunks > 1)
    partial = Tensor::empty({n_chunks, n}, DType::f32, dbias.device());
  float* const sums = partial.defined() ? partial.data<float>() : nullptr;
  if (has_activation)
    backward_pass(device, GeluSlope{}, rows, n, kept, dy, du, sums);
  else
    backward_pass(device, NoActivation{}, rows, n, kept, dy, du, sums);
  if (dbias.defined() && n_chunks > 1)
    sum_parts(device, {sums, 1, n_chunks, 1, n}, {{dbias.data<float>()}});
}

// If du comes without its column sums, the library makes them beside the product; on an H200
// (cuBLASLt 13.1) in a separate kernel, which reads du once more. Not for one column: there the
// library of CUDA 11.6 reads beyond its arrays (github.com/NVIDIA/apex, #1392).
void linear_weight_backward(Cuda device, const Tensor& x, const Tensor& du, Tensor& dw,
                            Tensor& dbias) {
  require_device_float(du.dtype());
  const auto apart = [&] { linear_weight_backward_apart(device, x, du, dw, dbias); };
  const bool may_be_one =
      dw.defined() && dbias.defined() && x.numel() > 0 && du.numel() > 0 && du.dim(-1) > 1;
  if (!may_be_one) return apart();
  const BlasProduct both{.first = product_of({du, true}, {x}, dw), .dbias = dbias.data<float>()};
  if (!blas_product(device, both, apart)) apart();
}

}  // namespace farfield
