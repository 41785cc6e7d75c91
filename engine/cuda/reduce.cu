#include <algorithm>
#include <limits>

#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/cuda/warp.cuh"
#include "engine/kernels/reduce.h"

namespace farfield {
namespace {

constexpr int64_t kRun = 2048;   // neighbours that a warp sums
constexpr int64_t kColumn = 64;  // rows that a thread sums

// Sums of runs of kRun elements of rows next to each other in memory, by a warp each: y [rows,
// runs]. The order of a sum does not depend on how it is loaded.
template <class X, class Y>
__global__ void sum_runs_kernel(int64_t n_sums, int64_t runs, int64_t n, bool is_aligned,
                                const X* x, Y* y) {
  constexpr int kN = kPieceSize<X>;
  const int64_t sum = thread_index() / kWarp;
  const auto lane = static_cast<int64_t>(threadIdx.x % kWarp);
  if (sum >= n_sums) return;
  const int64_t begin = sum % runs * kRun, left = n - begin;
  const int64_t count = left < kRun ? left : kRun;
  const X* const from = x + sum / runs * n + begin;
  Accumulate<X> totals[kN] = {};
  for (int64_t at = lane * kN; at < count; at += kWarp * kN) {
    const int own = count - at < kN ? static_cast<int>(count - at) : kN;
    const Vector<X, kN> in = load(from, Piece<kN>{at, own, is_aligned && own == kN});
    for (int i = 0; i < kN; ++i) totals[i] += widen(in.at[i]);
  }
  Accumulate<X> total = totals[0];
  for (int i = 1; i < kN; ++i) total += totals[i];
  total = warp_sum(total);
  if (lane == 0) y[sum] = narrow<Y>(total);
}

// The same of kColumn rows, by a thread for each column: y [outer, runs, inner].
template <class X, class Y>
__global__ void sum_columns_kernel(int64_t n_sums, int64_t runs, int64_t n, int64_t inner,
                                   const X* x, Y* y) {
  const int64_t sum = thread_index();
  if (sum >= n_sums) return;
  const int64_t column = sum % inner, run = sum / inner % runs, outer = sum / inner / runs;
  const int64_t begin = run * kColumn, end = begin + kColumn < n ? begin + kColumn : n;
  Accumulate<X> total = 0;
  for (int64_t i = begin; i < end; ++i) total += widen(x[(outer * n + i) * inner + column]);
  y[sum] = narrow<Y>(total);
}

// One pass: sums of `runs` parts of n.
template <class X, class Y>
void sum_pass(Cuda device, int64_t outer, int64_t runs, int64_t n, int64_t inner, const X* x,
              Y* y) {
  const int64_t n_sums = outer * runs * inner;
  if (inner == 1)
    launch(sum_runs_kernel<X, Y>, blocks_for(n_sums * kWarp), kThreads, 0, stream_of(device),
           n_sums, runs, n, is_aligned(x) && n % kPieceSize<X> == 0, x, y);
  else
    launch(sum_columns_kernel<X, Y>, blocks_for(n_sums), kThreads, 0, stream_of(device), n_sums,
           runs, n, inner, x, y);
}

// Passes over partial sums until one run is left.
template <class X, class Y>
void sum_all(Cuda device, int64_t outer, int64_t n, int64_t inner, const X* x, Y* y) {
  using A = Accumulate<X>;
  const int64_t length = inner == 1 ? kRun : kColumn;
  const int64_t runs = std::max<int64_t>(1, (n + length - 1) / length);
  if (runs == 1) return sum_pass(device, outer, 1, n, inner, x, y);
  Tensor partial =
      Tensor::empty({outer, runs, inner}, dtype_of<A>, {Device::Kind::cuda, device.index});
  sum_pass(device, outer, runs, n, inner, x, partial.data<A>());
  sum_all<A, Y>(device, outer, runs, inner, partial.data<A>(), y);
}

// An element and where it stands; the first NaN, or else the first of the largest, is best.
template <class A>
struct Best {
  A value = -std::numeric_limits<A>::infinity();
  int at = std::numeric_limits<int>::max();

  __device__ void take(A other, int other_at) {
    const bool is_nan = value != value, other_is_nan = other != other;
    const bool is_equal = value == other || (is_nan && other_is_nan);
    const bool is_better = is_equal ? other_at < at : !is_nan && (other_is_nan || other > value);
    if (!is_better) return;
    value = other;
    at = other_at;
  }
};

// Along rows next to each other in memory, by a warp each.
template <class T>
__global__ void max_rows_kernel(int64_t rows, int n, const T* x, T* y, int* argmax) {
  const int64_t row = thread_index() / kWarp;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  if (row >= rows) return;
  Best<Accumulate<T>> best;
  for (int i = lane; i < n; i += kWarp) best.take(widen(x[row * n + i]), i);
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const auto value = __shfl_xor_sync(kAllLanes, best.value, step);
    const int at = __shfl_xor_sync(kAllLanes, best.at, step);
    best.take(value, at);
  }
  if (lane > 0) return;
  y[row] = x[row * n + best.at];
  argmax[row] = best.at;
}

// Along columns, by a thread each.
template <class T>
__global__ void max_columns_kernel(int64_t n_columns, int n, int64_t inner, const T* x, T* y,
                                   int* argmax) {
  const int64_t column = thread_index();
  if (column >= n_columns) return;
  const T* const from = x + column / inner * n * inner + column % inner;
  Best<Accumulate<T>> best;
  for (int i = 0; i < n; ++i) best.take(widen(from[i * inner]), i);
  y[column] = from[best.at * inner];
  argmax[column] = best.at;
}

template <class T>
__global__ void max_backward_kernel(int64_t n_elements, int64_t n, int64_t inner, const int* argmax,
                                    const T* dy, T* dx) {
  const int64_t i = thread_index();
  if (i >= n_elements) return;
  const int64_t column = i / inner / n * inner + i % inner;
  dx[i] = i / inner % n == argmax[column] ? dy[column] : T{};
}

template <class T>
__global__ void find_not_finite_kernel(int64_t n, bool is_aligned, const T* x, int* found) {
  constexpr int kN = kPieceSize<T>;
  const Vector<T, kN> in = load(x, this_piece<kN>(n, is_aligned));
  Accumulate<T> product = 0;  // 0 * x is NaN when x is NaN or infinite
  for (int i = 0; i < kN; ++i) product += 0 * widen(in.at[i]);
  if (!(product == 0)) atomicMax(found, 1);
}

}  // namespace

void sum_forward(Cuda device, const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& y) {
  if (y.numel() == 0) return;
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    sum_all(device, outer, n, inner, x.data<T>(), y.data<T>());
  });
}

void max_forward(Cuda device, const Tensor& x, int64_t outer, int64_t n, int64_t inner, Tensor& y,
                 Tensor& argmax) {
  if (y.numel() == 0) return;
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    const int64_t columns = outer * inner;
    if (inner == 1)
      launch(max_rows_kernel<T>, blocks_for(columns * kWarp), kThreads, 0, stream_of(device),
             columns, static_cast<int>(n), x.data<T>(), y.data<T>(), argmax.data<int32_t>());
    else
      launch(max_columns_kernel<T>, blocks_for(columns), kThreads, 0, stream_of(device), columns,
             static_cast<int>(n), inner, x.data<T>(), y.data<T>(), argmax.data<int32_t>());
  });
}

void max_backward(Cuda device, const Tensor& argmax, const Tensor& dy, int64_t, int64_t n,
                  int64_t inner, Tensor& dx) {
  if (dx.numel() == 0) return;
  dispatch_float(dy.dtype(), [&](auto type) {
    using T = decltype(type);
    launch(max_backward_kernel<T>, blocks_for(dx.numel()), kThreads, 0, stream_of(device),
           dx.numel(), n, inner, argmax.data<int32_t>(), dy.data<T>(), dx.data<T>());
  });
}

bool is_finite(Cuda device, const Tensor& x) {
  if (x.numel() == 0) return true;
  Tensor found = Tensor::zeros({}, DType::i32, x.device());
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    constexpr int kN = kPieceSize<T>;
    const T* const data = x.data<T>();
    launch(find_not_finite_kernel<T>, blocks_for((x.numel() + kN - 1) / kN), kThreads, 0,
           stream_of(device), x.numel(), is_aligned(data), data, found.data<int32_t>());
  });
  return found.item() == 0;
}

}  // namespace farfield
