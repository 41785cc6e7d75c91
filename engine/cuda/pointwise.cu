#include "engine/cuda/map.cuh"
#include "engine/kernels/functors.h"
#include "engine/kernels/pointwise.h"

namespace farfield {
namespace {

// dx = dy f'(x), by what f keeps of its input or output.
template <class F>
struct Backward {
  template <class A>
  FARFIELD_HD A operator()(A dy, A kept) const {
    return dy * F().grad(kept, kept);
  }
};

struct Same {
  template <class T>
  FARFIELD_HD T operator()(T x) const {
    return x;
  }
};

template <class A>
struct Scale {
  A factor;
  FARFIELD_HD A operator()(A x) const { return x * factor; }
};

template <class T>
__global__ void fill_kernel(int64_t n, bool is_aligned, T value, T* x) {
  constexpr int kN = kPieceSize<T>;
  Vector<T, kN> out;
  for (int i = 0; i < kN; ++i) out.at[i] = value;
  store(out, this_piece<kN>(n, is_aligned), x);
}

// The factor is known to the device alone, where the host would have to wait for it.
template <class T>
__global__ void scale_kernel(int64_t n, bool is_aligned, const float* factor, T* x) {
  constexpr int kN = kPieceSize<T>;
  const Scale<float> scale{*factor};
  if (scale.factor == 1) return;
  const Piece<kN> piece = this_piece<kN>(n, is_aligned);
  Vector<T, kN> values = load(x, piece);
  for (int i = 0; i < kN; ++i) values.at[i] = narrow<T>(scale(widen(values.at[i])));
  store(values, piece, x);
}

}  // namespace

void fill(Cuda device, double value, Tensor& x) {
  if (x.numel() == 0) return;
  dispatch_any(x.dtype(), [&](auto type) {
    using T = decltype(type);
    constexpr int kN = kPieceSize<T>;
    T* const to = x.data<T>();
    launch(fill_kernel<T>, blocks_for((x.numel() + kN - 1) / kN), kThreads, 0, stream_of(device),
           x.numel(), is_aligned(to), static_cast<T>(value), to);
  });
}

void cast(Cuda device, const Tensor& x, Tensor& y) {
  dispatch_any(x.dtype(), [&](auto from) {
    dispatch_any(y.dtype(), [&](auto to) {
      map(device, x.numel(), Same{}, x.data<decltype(from)>(), y.data<decltype(to)>());
    });
  });
}

void add_in_place(Cuda device, const Tensor& x, Tensor& y) {
  dispatch_float(y.dtype(), [&](auto type) {
    using T = decltype(type);
    map(device, y.numel(), Add{}, y.data<T>(), x.data<T>(), y.data<T>());
  });
}

void scale_in_place(Cuda device, double factor, Tensor& x) {
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    map(device, x.numel(), Scale<A>{static_cast<A>(factor)}, x.data<T>(), x.data<T>());
  });
}

void scale_in_place(Cuda device, const Tensor& factor, Tensor& x) {
  if (x.numel() == 0) return;
  dispatch_device_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    constexpr int kN = kPieceSize<T>;
    T* const to = x.data<T>();
    launch(scale_kernel<T>, blocks_for((x.numel() + kN - 1) / kN), kThreads, 0, stream_of(device),
           x.numel(), is_aligned(to), factor.data<float>(), to);
  });
}

void unary_forward(Cuda device, UnaryOp op, const Tensor& x, Tensor& y) {
  visit_functor(UnaryFunctors{}, op, [&](auto f) {
    dispatch_float(x.dtype(), [&](auto type) {
      using T = decltype(type);
      map(device, x.numel(), f, x.data<T>(), y.data<T>());
    });
  });
}

void unary_backward(Cuda device, UnaryOp op, const Tensor& x, const Tensor& y, const Tensor& dy,
                    Tensor& dx) {
  visit_functor(UnaryFunctors{}, op, [&](auto f) {
    using F = decltype(f);
    dispatch_float(dy.dtype(), [&](auto type) {
      using T = decltype(type);
      // kept: what f.grad() reads, the other may be anything
      const Tensor& kept = F::kKeeps == Keeps::output ? y : x;
      map(device, dy.numel(), Backward<F>{}, dy.data<T>(), kept.data<T>(), dx.data<T>());
    });
  });
}

}  // namespace farfield
