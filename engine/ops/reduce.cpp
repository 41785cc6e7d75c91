#include "engine/ops/reduce.h"

#include "engine/autograd.h"
#include "engine/kernels.h"
#include "engine/ops/pointwise.h"

namespace farfield {
namespace {

// The sizes before, of and after a dimension.
struct Split {
  int64_t outer, n, inner;
};
Split split_at(const Shape& shape, int dim) {
  return {shape.product(0, dim), shape[dim], shape.product(dim + 1, shape.rank())};
}

void check(const Tensor& x, int dim, const char* where) {
  require<ShapeError>(x.shape().has_dim(dim), where, "expected a dimension of x", x.shape(),
                      ", got ", dim);
  require<DTypeError>(is_float(x.dtype()), where, "expected a floating type, got ", x.dtype());
}

// y[outer, inner] = sum over n; y has the shape of x with size 1 at dim.
Tensor raw_sum(const Tensor& x, const Split& s, const Shape& shape) {
  Tensor y = Tensor::empty(shape, x.dtype(), x.device());
  dispatch(x.device(), [&](auto tag) { sum_forward(tag, x, s.outer, s.n, s.inner, y); });
  return y;
}

// dy, which has size 1 at a dimension (or one element), repeated to `shape`.
Tensor repeat(const Tensor& dy, const Shape& shape) {
  return dy + Tensor::zeros(shape, dy.dtype(), dy.device());
}

}  // namespace

Tensor sum(const Tensor& x) {
  require<DTypeError>(is_float(x.dtype()), "sum", "expected a floating type, got ", x.dtype());
  Tensor y = raw_sum(x, {1, x.numel(), 1}, {});
  record("sum", y, {x}, [shape = x.shape()](const Tensor& dy) { return Grads{repeat(dy, shape)}; });
  return y;
}

Tensor sum(const Tensor& x, int dim, bool keepdim) {
  check(x, dim, "sum");
  dim = x.shape().index(dim);
  const Shape kept = x.shape().with(dim, 1);
  Tensor y = raw_sum(x, split_at(x.shape(), dim), keepdim ? kept : x.shape().without(dim));
  record("sum", y, {x}, [shape = x.shape(), kept](const Tensor& dy) {
    return Grads{repeat(dy.view(kept), shape)};
  });
  return y;
}

Tensor mean(const Tensor& x) {
  require<ShapeError>(x.numel() > 0, "mean", "expected at least one element, got shape ",
                      x.shape());
  return sum(x) / static_cast<double>(x.numel());
}

Tensor mean(const Tensor& x, int dim, bool keepdim) {
  check(x, dim, "mean");
  require<ShapeError>(x.dim(dim) > 0, "mean", "expected at least one element in dimension ", dim,
                      ", got shape ", x.shape());
  return sum(x, dim, keepdim) / static_cast<double>(x.dim(dim));
}

Tensor max(const Tensor& x, int dim, bool keepdim) {
  check(x, dim, "max");
  require<ShapeError>(x.dim(dim) > 0, "max", "expected at least one element in dimension ", dim,
                      ", got shape ", x.shape());
  dim = x.shape().index(dim);
  const Split s = split_at(x.shape(), dim);
  const Shape shape = keepdim ? x.shape().with(dim, 1) : x.shape().without(dim);
  Tensor y = Tensor::empty(shape, x.dtype(), x.device());
  Tensor argmax = Tensor::empty(shape, DType::i32, x.device());
  dispatch(x.device(), [&](auto tag) { max_forward(tag, x, s.outer, s.n, s.inner, y, argmax); });
  record("max", y, {x}, [argmax, s, full = x.shape()](const Tensor& dy) {
    Tensor dx = Tensor::empty(full, dy.dtype(), dy.device());
    dispatch(dy.device(),
             [&](auto tag) { max_backward(tag, argmax, dy, s.outer, s.n, s.inner, dx); });
    return Grads{dx};
  });
  return y;
}

Tensor logsumexp(const Tensor& x, int dim, bool keepdim) {
  check(x, dim, "logsumexp");
  require<ShapeError>(x.dim(dim) > 0, "logsumexp", "expected at least one element in dimension ",
                      dim, ", got shape ", x.shape());
  dim = x.shape().index(dim);
  const Shape kept = x.shape().with(dim, 1);
  Tensor y;
  {
    const NoGrad no_grad;
    // A row of -infinity: subtracting its maximum would make NaN of it.
    const Tensor shift = maximum(max(x, dim, true), -1e30);
    y = log(sum(exp(x - shift), dim, true)) + shift;
  }
  if (!keepdim) y = y.view(kept.without(dim));
  record("logsumexp", y, {x}, [x = x.detach(), y = y.detach(), kept](const Tensor& dy) {
    // dx = dy softmax(x)
    return Grads{exp(x - y.view(kept)) * dy.view(kept)};
  });
  return y;
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int lead = x.rank() - shape.rank();
  bool fits = lead >= 0;
  for (int i = 0; fits && i < shape.rank(); ++i)
    fits = shape[i] == x.dim(lead + i) || shape[i] == 1;
  require<ShapeError>(fits, "sum_to", "expected a shape that broadcasts to ", x.shape(), ", got ",
                      shape);
  require<DTypeError>(is_float(x.dtype()), "sum_to", "expected a floating type, got ", x.dtype());
  // Each group of neighbouring dimensions to be summed is one pass, the last group first: then x
  // shrinks fastest where its elements are next to each other.
  Tensor total;
  {
    const NoGrad no_grad;
    total = x;
    const auto summed = [&](int i) { return x.dim(i) != 1 && (i < lead || shape[i - lead] == 1); };
    Shape left = x.shape();
    for (int end = x.rank(); end > 0; --end) {
      if (!summed(end - 1)) continue;
      int begin = end - 1;
      while (begin > 0 && (summed(begin - 1) || x.dim(begin - 1) == 1)) --begin;
      const Split s{left.product(0, begin), left.product(begin, end),
                    left.product(end, left.rank())};
      for (int i = begin; i < end; ++i) left = left.with(i, 1);
      total = raw_sum(total, s, left);
      end = begin + 1;
    }
    total = total.view(shape);
  }
  record("sum_to", total, {x},
         [from = x.shape()](const Tensor& dy) { return Grads{repeat(dy, from)}; });
  return total;
}

bool is_finite(const Tensor& x) {
  require<DTypeError>(is_float(x.dtype()), "is_finite", "expected a floating type, got ",
                      x.dtype());
  return dispatch(x.device(), [&](auto tag) { return is_finite(tag, x); });
}

}  // namespace farfield
