// Functions of two operands that are repeated to a common shape: binary_forward, binary_backward.

#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/kernels/broadcast.h"
#include "engine/kernels/functors.h"
#include "engine/kernels/pointwise.h"

namespace farfield {
namespace {

// The elements of an operand, or the number that it is.
template <class T>
struct Source {
  const T* data;  // null: a number
  Accumulate<T> number;

  explicit Source(const Operand& x)
      : data(x.is_number() ? nullptr : x.tensor.data<T>()),
        number(static_cast<Accumulate<T>>(x.number)) {}
};

template <class T>
struct Operands {
  Broadcast plan;
  Source<T> a, b;
  int64_t n;
  bool is_aligned;  // a piece of which no part is cut off can be loaded at once

  Operands(const Operand& of_a, const Operand& of_b, const Shape& shape)
      : plan(of_a.shape(), of_b.shape(), shape), a(of_a), b(of_b), n(shape.numel()) {
    // A null pointer is aligned.
    const bool fits = plan.rank <= 1 || plan.row % kPieceSize<T> == 0;
    is_aligned = fits && (plan.a.is_repeated_in_row || farfield::is_aligned(a.data)) &&
                 (plan.b.is_repeated_in_row || farfield::is_aligned(b.data));
  }
};

// The values of one operand in a piece of the result.
template <class T, int kN = kPieceSize<T>>
__device__ Vector<Accumulate<T>, kN> values_of(const Source<T>& source, const Broadcast& plan,
                                               const Broadcast::Operand& operand,
                                               const Piece<kN>& piece) {
  Vector<Accumulate<T>, kN> values{};
  const int64_t row = piece.begin / plan.row, column = piece.begin % plan.row;
  if (!source.data) {
    for (int i = 0; i < kN; ++i) values.at[i] = source.number;
  } else if (piece.is_whole && operand.is_repeated_in_row) {
    const Accumulate<T> value = widen(source.data[plan.offset(operand, row)]);
    for (int i = 0; i < kN; ++i) values.at[i] = value;
  } else if (piece.is_whole) {
    const Piece<kN> run{plan.offset(operand, row) + column, kN, true};
    const Vector<T, kN> in = load(source.data, run);
    for (int i = 0; i < kN; ++i) values.at[i] = widen(in.at[i]);
  } else {
    for (int i = 0; i < kN; ++i) {
      if (i >= piece.n) break;
      const int64_t at = piece.begin + i;
      const int64_t begin = plan.offset(operand, at / plan.row);
      const int64_t in_row = operand.is_repeated_in_row ? 0 : at % plan.row;
      values.at[i] = widen(source.data[begin + in_row]);
    }
  }
  return values;
}

template <class F, class T>
__global__ void binary_kernel(Operands<T> in, F f, T* y) {
  constexpr int kN = kPieceSize<T>;
  const Piece<kN> piece = this_piece<kN>(in.n, in.is_aligned);
  const auto a = values_of(in.a, in.plan, in.plan.a, piece);
  const auto b = values_of(in.b, in.plan, in.plan.b, piece);
  Vector<T, kN> out;
  for (int i = 0; i < kN; ++i) out.at[i] = narrow<T>(f(a.at[i], b.at[i]));
  store(out, piece, y);
}

template <class F, class T>
__global__ void binary_backward_kernel(Operands<T> in, F f, const T* dy, T* da, T* db) {
  constexpr int kN = kPieceSize<T>;
  const Piece<kN> piece = this_piece<kN>(in.n, in.is_aligned);
  const auto a = values_of(in.a, in.plan, in.plan.a, piece);
  const auto b = values_of(in.b, in.plan, in.plan.b, piece);
  const Vector<T, kN> from = load(dy, piece);
  Vector<T, kN> out;
  if (da) {
    for (int i = 0; i < kN; ++i)
      out.at[i] = narrow<T>(widen(from.at[i]) * f.grad_a(a.at[i], b.at[i]));
    store(out, piece, da);
  }
  if (db) {
    for (int i = 0; i < kN; ++i)
      out.at[i] = narrow<T>(widen(from.at[i]) * f.grad_b(a.at[i], b.at[i]));
    store(out, piece, db);
  }
}

// g(functor, operands, blocks) when there is anything to do.
template <class G>
void visit_binary(BinaryOp op, const Operand& a, const Operand& b, const Tensor& y, const G& g) {
  if (y.numel() == 0) return;
  visit_functor(BinaryFunctors{}, op, [&](auto f) {
    dispatch_float(y.dtype(), [&](auto type) {
      using T = decltype(type);
      constexpr int kN = kPieceSize<T>;
      g(f, Operands<T>(a, b, y.shape()), blocks_for((y.numel() + kN - 1) / kN), type);
    });
  });
}

}  // namespace

void binary_forward(Cuda device, BinaryOp op, const Operand& a, const Operand& b, Tensor& y) {
  visit_binary(op, a, b, y, [&](auto f, auto in, dim3 blocks, auto type) {
    using T = decltype(type);
    T* const to = y.data<T>();
    in.is_aligned = in.is_aligned && is_aligned(to);
    launch(binary_kernel<decltype(f), T>, blocks, kThreads, 0, stream_of(device), in, f, to);
  });
}

void binary_backward(Cuda device, BinaryOp op, const Operand& a, const Operand& b, const Tensor& dy,
                     Tensor& da, Tensor& db) {
  visit_binary(op, a, b, dy, [&](auto f, auto in, dim3 blocks, auto type) {
    using T = decltype(type);
    const T* const from = dy.data<T>();
    T* const to_a = da.defined() ? da.data<T>() : nullptr;
    T* const to_b = db.defined() ? db.data<T>() : nullptr;
    in.is_aligned = in.is_aligned && is_aligned(from, to_a, to_b);
    launch(binary_backward_kernel<decltype(f), T>, blocks, kThreads, 0, stream_of(device), in, f,
           from, to_a, to_b);
  });
}

}  // namespace farfield
