#include "engine/ops/matmul.h"

#include <algorithm>

#include "engine/autograd.h"
#include "engine/kernels.h"

namespace farfield {
namespace {

// c = op(a) op(b) for each index of the leading dimensions.
void multiply(const Factor& a, const Factor& b, Tensor& c) {
  const auto size = [](const Tensor& x) { return x.dim(-2) * x.dim(-1); };
  dispatch(c.device(), [&](auto tag) {
    gemm_batched(tag, product_of(a, b, c), c.shape().product(0, c.rank() - 2), size(a.x), size(b.x),
                 size(c));
  });
}

void check_linear(const Tensor& x, const Tensor& w) {
  require<ShapeError>(w.rank() == 2 && w.dim(1) > 0 && x.rank() >= 1 && x.dim(-1) == w.dim(1),
                      "linear", "expected x[..., i] and w[o, i], got x", x.shape(), " and w",
                      w.shape());
  require<DeviceError>(x.device() == w.device(), "linear", "expected one device, got x on ",
                       x.device(), " and w on ", w.device());
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  require<ShapeError>(a.rank() >= 2 && a.rank() == b.rank(), "matmul",
                      "expected two matrices, or two stacks of them, of equal rank, got a",
                      a.shape(), " @ b", b.shape());
  require<ShapeError>(a.dim(-1) == b.dim(-2), "matmul",
                      "expected equal inner dims in a[..., m, k] @ b[..., k, n], got a", a.shape(),
                      " @ b", b.shape());
  require<ShapeError>(std::equal(a.shape().begin(), a.shape().end() - 2, b.shape().begin()),
                      "matmul", "expected equal leading dims, got a", a.shape(), " @ b", b.shape());
  require<DTypeError>(is_float(a.dtype()) && a.dtype() == b.dtype(), "matmul",
                      "expected one floating type, got ", a.dtype(), " and ", b.dtype());
  require<DeviceError>(a.device() == b.device(), "matmul", "expected one device, got ", a.device(),
                       " and ", b.device());
  Tensor y = Tensor::empty(a.shape().with(-1, b.dim(-1)), a.dtype(), a.device());
  multiply({a}, {b}, y);
  const bool want_a = a.needs_grad(), want_b = b.needs_grad();
  record("matmul", y, {a, b}, [a = a.detach(), b = b.detach(), want_a, want_b](const Tensor& dy) {
    Grads grads(2);
    if (want_a) {  // da = dy b^T
      grads[0] = empty_like(a);
      multiply({dy}, {b, true}, grads[0]);
    }
    if (want_b) {  // db = a^T dy
      grads[1] = empty_like(b);
      multiply({a, true}, {dy}, grads[1]);
    }
    return grads;
  });
  return y;
}

Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias, Activation activation) {
  check_linear(x, w);
  const DType master = accumulate_dtype(x.dtype());
  const bool is_frozen = w.dtype() == x.dtype() && !w.needs_grad();
  require<DTypeError>(is_float(x.dtype()) && (w.dtype() == master || is_frozen), "linear",
                      "expected w in the accumulation type of x, got w in ", w.dtype(),
                      " and x in ", x.dtype());
  if (bias.defined()) {
    require<ShapeError>(bias.shape() == Shape{w.dim(0)}, "linear", "expected bias[", w.dim(0),
                        "], got bias", bias.shape());
    require<DTypeError>(bias.dtype() == master, "linear", "expected bias in ", master, ", got ",
                        bias.dtype());
    require<DeviceError>(bias.device() == x.device(), "linear", "expected bias on ", x.device(),
                         " like x, got it on ", bias.device());
  }
  const int64_t n_in = w.dim(1), n_out = w.dim(0);
  const int64_t n_rows = x.shape().product(0, x.rank() - 1);
  const bool has_activation = activation != Activation::none;
  const Tensor rows = x.view({n_rows, n_in});
  const Tensor w_compute = w.to(x.dtype());
  Tensor y = Tensor::empty(x.shape().with(-1, n_out), x.dtype(), x.device());
  const bool keeps = has_activation && will_record({x, w, bias});
  Tensor kept = keeps ? empty_like(y) : Tensor();
  dispatch(x.device(),
           [&](auto tag) { linear_forward(tag, rows, w_compute, bias, activation, kept, y); });
  const bool want_x = x.needs_grad(), want_w = w.needs_grad(), want_bias = bias.needs_grad();
  record("linear", y, {x, w, bias},
         [shape = x.shape(), rows, w_compute, master, kept, activation, want_x, want_w,
          want_bias](const Tensor& dy) {
           const int64_t o = w_compute.dim(0);
           Grads grads(3);
           Tensor dbias;  // while it is to be summed
           if (want_bias) {
             if (!kept.defined()) grads[2] = dy.column_sums();
             if (!grads[2].defined()) grads[2] = dbias = Tensor::empty({o}, master, dy.device());
           }
           // This runs once: du overwrites what was kept, which nothing else reads.
           Tensor du = kept.defined() ? kept : dy;
           if (kept.defined()) {
             dispatch(dy.device(), [&](auto tag) {
               linear_activation_backward(tag, kept, dy, activation, du, dbias);
             });
             dbias = {};  // summed by the pass that made du
           }
           const Tensor du_rows = du.view({rows.dim(0), o});
           dispatch(dy.device(), [&](auto tag) {
             Tensor sum;
             if (want_w && adds_exactly(tag, du.dtype(), o, rows.dim(1), rows.dim(0)))
               sum = take_sum_of_input(1);
             const bool adds = sum.defined();
             if (want_w)
               grads[1] = adds ? sum : Tensor::empty(w_compute.shape(), master, dy.device());
             if (adds)
               linear_weight_backward_apart(tag, rows, du_rows, sum, dbias, adds);
             else
               linear_weight_backward(tag, rows, du_rows, grads[1], dbias);
           });
           if (want_x) {  // dx = du w
             grads[0] = Tensor::empty(shape, dy.dtype(), dy.device());
             Tensor dx = grads[0].view(rows.shape());
             multiply({du_rows}, {w_compute}, dx);
           }
           return grads;
         });
  if (want_bias && !has_activation) expect_column_sums(y);
  return y;
}

Tensor wide_linear(const Tensor& x, const Tensor& w) {
  check_linear(x, w);
  require<DTypeError>(is_float(x.dtype()) && w.dtype() == x.dtype(), "linear",
                      "expected one floating type, got x in ", x.dtype(), " and w in ", w.dtype());
  const Shape rows{x.shape().product(0, x.rank() - 1), x.dim(-1)};
  Tensor y = Tensor::empty({rows[0], w.dim(0)}, accumulate_dtype(x.dtype()), x.device());
  gemm(x.device(), product_of({x.view(rows)}, {w, true}, y));
  return y.view(x.shape().with(-1, w.dim(0)));
}

void gemm(const Device& device, const Gemm& product) {
  dispatch(device, [&](auto tag) { gemm(tag, product); });
}

}  // namespace farfield
