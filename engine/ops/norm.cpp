#include "engine/ops/norm.h"

#include "engine/autograd.h"
#include "engine/kernels.h"

namespace farfield {
namespace {

void check(const Tensor& x, const Tensor& weight, const Tensor& bias, const char* where) {
  require<DTypeError>(is_float(x.dtype()), where, "expected a floating type, got ", x.dtype());
  require<ShapeError>(x.rank() > 0 && x.dim(-1) > 0, where,
                      "expected rows of at least one element, got x", x.shape());
  const Shape row{x.dim(-1)};
  require<ShapeError>(weight.shape() == row && bias.shape() == row, where,
                      "expected weight and bias of shape ", row, " for x", x.shape(), ", got ",
                      weight.shape(), " and ", bias.shape());
  const DType acc = accumulate_dtype(x.dtype());
  require<DTypeError>(weight.dtype() == acc && bias.dtype() == acc, where,
                      "expected weight and bias in ", acc, " for x in ", x.dtype(), ", got ",
                      weight.dtype(), " and ", bias.dtype());
  require<DeviceError>(weight.device() == x.device() && bias.device() == x.device(), where,
                       "expected weight and bias on ", x.device(), ", got ", weight.device(),
                       " and ", bias.device());
}

struct Norm {
  Tensor sum, y, mean, rstd;
};
Norm forward(const Tensor& x, const Tensor& residual, const Tensor& weight, const Tensor& bias,
             double eps) {
  const DType acc = accumulate_dtype(x.dtype());
  const Shape rows{x.shape().product(0, x.rank() - 1)};
  Norm norm{residual.defined() ? empty_like(x) : Tensor(), empty_like(x),
            Tensor::empty(rows, acc, x.device()), Tensor::empty(rows, acc, x.device())};
  dispatch(x.device(), [&](auto tag) {
    layer_norm_forward(tag, x, residual, weight, bias, eps, norm.sum, norm.y, norm.mean, norm.rstd);
  });
  return norm;
}

// Gradients of s, weight and bias; dsum may be undefined. sums_columns: the column sums of ds are
// expected.
Grads backward_of(const Tensor& s, const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                  const Tensor& dy, const Tensor& dsum, bool sums_columns) {
  Tensor ds = empty_like(s), dweight = empty_like(weight), dbias = empty_like(weight), column_sums;
  dispatch(s.device(), [&](auto tag) {
    if (sums_columns && norm_sums_columns(tag, s.dtype())) column_sums = empty_like(weight);
    layer_norm_backward(tag, s, weight, mean, rstd, dy, dsum, ds, dweight, dbias, column_sums);
  });
  if (column_sums.defined()) ds.keep_column_sums(column_sums);
  return {ds, dweight, dbias};
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check(x, weight, bias, "layer_norm");
  Norm norm = forward(x, {}, weight, bias, eps);
  record("layer_norm", norm.y, {x, weight, bias},
         [s = x.detach(), weight = weight.detach(), mean = norm.mean, rstd = norm.rstd,
          sums_columns = expects_column_sums(x)](const Tensor& dy) {
           return backward_of(s, weight, mean, rstd, dy, {}, sums_columns);
         });
  return norm.y;
}

SumAndNorm add_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& weight,
                          const Tensor& bias, double eps) {
  check(x, weight, bias, "add_layer_norm");
  require<ShapeError>(residual.shape() == x.shape(), "add_layer_norm",
                      "expected a residual of the shape of x", x.shape(), ", got ",
                      residual.shape());
  require<DTypeError>(residual.dtype() == x.dtype(), "add_layer_norm", "expected a residual in ",
                      x.dtype(), ", got ", residual.dtype());
  require<DeviceError>(residual.device() == x.device(), "add_layer_norm", "expected a residual on ",
                       x.device(), ", got ", residual.device());
  Norm norm = forward(x, residual, weight, bias, eps);
  record("add_layer_norm", {&norm.sum, &norm.y}, {x, residual, weight, bias},
         [s = norm.sum.detach(), weight = weight.detach(), mean = norm.mean, rstd = norm.rstd,
          sums_columns = expects_column_sums(x) ||
                         expects_column_sums(residual)](const std::vector<Tensor>& dys) {
           if (!dys[1].defined()) return Grads{dys[0], dys[0], {}, {}};
           const Grads grads = backward_of(s, weight, mean, rstd, dys[1], dys[0], sums_columns);
           return Grads{grads[0], grads[0], grads[1], grads[2]};
         });
  return {norm.sum, norm.y};
}

}  // namespace farfield
