#pragma once
// One result for each element: y[i] = f(x[i]) and y[i] = f(a[i], b[i]). f gets and returns values
// as wide as they are computed with. y may be an input.

#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"

namespace farfield {

template <class F, class X, class Y>
__global__ void map_kernel(int64_t n, bool is_aligned, F f, const X* x, Y* y) {
  constexpr int kN = kPieceSize<X, Y>;
  const Piece<kN> piece = this_piece<kN>(n, is_aligned);
  const Vector<X, kN> in = load(x, piece);
  Vector<decltype(f(widen(X{}))), kN> out;
  for (int i = 0; i < kN; ++i) out.at[i] = f(widen(in.at[i]));
  store(narrowed<Y>(out), piece, y);
}

template <class F, class T>
__global__ void map2_kernel(int64_t n, bool is_aligned, F f, const T* a, const T* b, T* y) {
  constexpr int kN = kPieceSize<T>;
  const Piece<kN> piece = this_piece<kN>(n, is_aligned);
  const Vector<T, kN> in_a = load(a, piece), in_b = load(b, piece);
  Vector<decltype(f(widen(T{}), widen(T{}))), kN> out;
  for (int i = 0; i < kN; ++i) out.at[i] = f(widen(in_a.at[i]), widen(in_b.at[i]));
  store(narrowed<T>(out), piece, y);
}

/// y = f(x), n elements.
template <class F, class X, class Y>
void map(Cuda device, int64_t n, const F& f, const X* x, Y* y) {
  if (n == 0) return;
  constexpr int kN = kPieceSize<X, Y>;
  launch(map_kernel<F, X, Y>, blocks_for((n + kN - 1) / kN), kThreads, 0, stream_of(device), n,
         is_aligned(x, y), f, x, y);
}

/// y = f(a, b), n elements.
template <class F, class T>
void map(Cuda device, int64_t n, const F& f, const T* a, const T* b, T* y) {
  if (n == 0) return;
  constexpr int kN = kPieceSize<T>;
  launch(map2_kernel<F, T>, blocks_for((n + kN - 1) / kN), kThreads, 0, stream_of(device), n,
         is_aligned(a, b, y), f, a, b, y);
}

}  // namespace farfield
