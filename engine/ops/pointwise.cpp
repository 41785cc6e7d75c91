#include "engine/ops/pointwise.h"

#include "engine/autograd.h"
#include "engine/kernels.h"
#include "engine/kernels/functors.h"
#include "engine/ops/reduce.h"

namespace farfield {
namespace {

template <class F>
Tensor unary(const Tensor& x) {
  require<DTypeError>(is_float(x.dtype()), F::kName, "expected a floating type, got ", x.dtype());
  Tensor y = empty_like(x);
  dispatch(x.device(), [&](auto tag) { unary_forward(tag, unary_op<F>, x, y); });
  const Tensor kept = F::kKeeps == Keeps::input    ? x.detach()
                      : F::kKeeps == Keeps::output ? y.detach()
                                                   : Tensor();
  record(F::kName, y, {x}, [kept](const Tensor& dy) {
    // the kernel reads x or y only where the derivative needs it
    const Tensor& any = kept.defined() ? kept : dy;
    Tensor dx = empty_like(dy);
    dispatch(dy.device(), [&](auto tag) { unary_backward(tag, unary_op<F>, any, any, dy, dx); });
    return Grads{dx};
  });
  return y;
}

// y = f(a, b), of the dtype and the device of `like`, which is one of the two.
template <class F>
Tensor binary(Operand a, Operand b, const Tensor& like) {
  require<DTypeError>(is_float(like.dtype()), F::kName, "expected a floating type, got ",
                      like.dtype());
  Tensor y = Tensor::empty(broadcast(a.shape(), b.shape(), F::kName), like.dtype(), like.device());
  dispatch(y.device(), [&](auto tag) { binary_forward(tag, binary_op<F>, a, b, y); });
  const std::vector<Tensor> inputs = {a.tensor, b.tensor};
  const bool need_a = a.tensor.needs_grad(), need_b = b.tensor.needs_grad();
  if constexpr (std::is_same_v<F, Add>) {  // keeps no operand
    record(F::kName, y, inputs, [need_a, need_b, a = a.shape(), b = b.shape()](const Tensor& dy) {
      return Grads{need_a ? sum_to(dy, a) : Tensor(), need_b ? sum_to(dy, b) : Tensor()};
    });
    return y;
  }
  for (Operand* x : {&a, &b}) x->tensor = x->tensor.detach();
  record(F::kName, y, inputs, [a, b, need_a, need_b](const Tensor& dy) {
    Tensor da, db;
    if (need_a) da = empty_like(dy);
    if (need_b) db = empty_like(dy);
    dispatch(dy.device(), [&](auto tag) { binary_backward(tag, binary_op<F>, a, b, dy, da, db); });
    return Grads{need_a ? sum_to(da, a.shape()) : da, need_b ? sum_to(db, b.shape()) : db};
  });
  return y;
}

template <class F>
Tensor binary(const Tensor& a, const Tensor& b) {
  require<DTypeError>(a.dtype() == b.dtype(), F::kName, "expected equal dtypes, got ", a.dtype(),
                      " and ", b.dtype(), "; cast() one of them");
  require<DeviceError>(a.device() == b.device(), F::kName, "expected tensors of one device, got ",
                       a.device(), " and ", b.device());
  return binary<F>(a, b, a);
}
template <class F>
Tensor binary(const Tensor& a, double b) {
  return binary<F>(a, b, a);
}
template <class F>
Tensor binary(double a, const Tensor& b) {
  return binary<F>(a, b, b);
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) { return binary<Add>(a, b); }
Tensor operator+(const Tensor& a, double b) { return binary<Add>(a, b); }
Tensor operator+(double a, const Tensor& b) { return binary<Add>(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return binary<Subtract>(a, b); }
Tensor operator-(const Tensor& a, double b) { return binary<Subtract>(a, b); }
Tensor operator-(double a, const Tensor& b) { return binary<Subtract>(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return binary<Multiply>(a, b); }
Tensor operator*(const Tensor& a, double b) { return binary<Multiply>(a, b); }
Tensor operator*(double a, const Tensor& b) { return binary<Multiply>(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return binary<Divide>(a, b); }
Tensor operator/(const Tensor& a, double b) { return binary<Divide>(a, b); }
Tensor operator/(double a, const Tensor& b) { return binary<Divide>(a, b); }
Tensor operator-(const Tensor& x) { return unary<Negate>(x); }

Tensor pow(const Tensor& a, const Tensor& b) { return binary<Power>(a, b); }
Tensor pow(const Tensor& a, double b) { return binary<Power>(a, b); }
Tensor pow(double a, const Tensor& b) { return binary<Power>(a, b); }
Tensor swiglu(const Tensor& gate, const Tensor& up) { return binary<SwiGlu>(gate, up); }
Tensor maximum(const Tensor& a, const Tensor& b) { return binary<Maximum>(a, b); }
Tensor maximum(const Tensor& a, double b) { return binary<Maximum>(a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return binary<Minimum>(a, b); }
Tensor minimum(const Tensor& a, double b) { return binary<Minimum>(a, b); }

Tensor exp(const Tensor& x) { return unary<Exp>(x); }
Tensor log(const Tensor& x) { return unary<Log>(x); }
Tensor log1p(const Tensor& x) { return unary<Log1p>(x); }
Tensor sqrt(const Tensor& x) { return unary<Sqrt>(x); }
Tensor square(const Tensor& x) { return unary<Square>(x); }
Tensor sin(const Tensor& x) { return unary<Sin>(x); }
Tensor cos(const Tensor& x) { return unary<Cos>(x); }
Tensor tanh(const Tensor& x) { return unary<Tanh>(x); }
Tensor sigmoid(const Tensor& x) { return unary<Sigmoid>(x); }
Tensor silu(const Tensor& x) { return unary<Silu>(x); }
Tensor gelu(const Tensor& x) { return unary<Gelu>(x); }
Tensor gelu_tanh(const Tensor& x) { return unary<GeluTanh>(x); }
Tensor relu(const Tensor& x) { return unary<Relu>(x); }
Tensor elu_plus_one(const Tensor& x) { return unary<EluPlusOne>(x); }
Tensor heaviside(const Tensor& x) { return unary<Heaviside>(x); }

Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor y = Tensor::empty(x.shape(), dtype, x.device());
  dispatch(x.device(), [&](auto tag) { cast(tag, x, y); });
  if (is_float(dtype) && is_float(x.dtype()))
    record("cast", y, {x}, [from = x.dtype()](const Tensor& dy) { return Grads{cast(dy, from)}; });
  return y;
}

}  // namespace farfield
