#include "engine/ops/norm.h"

#include "engine/autograd.h"
#include "engine/kernels.h"

namespace farfield {
namespace {

// A norm of either kind.
struct NormOf {
  const char* where;
  bool is_centered;  // layer norm; else RMS norm
  Tensor weight, bias;
  double eps;
};

void check(const Tensor& x, const NormOf& norm) {
  const Tensor &weight = norm.weight, &bias = norm.bias;
  const char* const where = norm.where;
  const char* const what = bias.defined() ? "weight and bias" : "weight";
  const auto both = [&](const auto& of_weight, const auto& of_bias) {
    return bias.defined() ? concat(of_weight, " and ", of_bias()) : concat(of_weight);
  };
  require<DTypeError>(is_float(x.dtype()), where, "expected a floating type, got ", x.dtype());
  require<ShapeError>(x.rank() > 0 && x.dim(-1) > 0, where,
                      "expected rows of at least one element, got x", x.shape());
  const Shape row{x.dim(-1)};
  const auto fits = [&](const auto& f) { return f(weight) && (!bias.defined() || f(bias)); };
  require<ShapeError>(fits([&](const Tensor& t) { return t.shape() == row; }), where, "expected ",
                      what, " of shape ", row, " for x", x.shape(), ", got ",
                      both(weight.shape(), [&] { return bias.shape(); }));
  const DType acc = accumulate_dtype(x.dtype());
  require<DTypeError>(fits([&](const Tensor& t) { return t.dtype() == acc; }), where, "expected ",
                      what, " in ", acc, " for x in ", x.dtype(), ", got ",
                      both(weight.dtype(), [&] { return bias.dtype(); }));
  require<DeviceError>(fits([&](const Tensor& t) { return t.device() == x.device(); }), where,
                       "expected ", what, " on ", x.device(), ", got ",
                       both(weight.device(), [&] { return bias.device(); }));
}

struct Norm {
  Tensor sum, y, mean, rstd;
};
Norm forward(const Tensor& x, const Tensor& residual, const NormOf& of) {
  const DType acc = accumulate_dtype(x.dtype());
  const Shape rows{x.shape().product(0, x.rank() - 1)};
  const auto row_values = [&] { return Tensor::empty(rows, acc, x.device()); };
  Norm norm{residual.defined() ? empty_like(x) : Tensor(), empty_like(x),
            of.is_centered ? row_values() : Tensor(), row_values()};
  dispatch(x.device(), [&](auto tag) {
    layer_norm_forward(tag, x, residual, of.weight, of.bias, of.eps, norm.sum, norm.y, norm.mean,
                       norm.rstd);
  });
  return norm;
}

// Gradients of s, weight and bias, the last one undefined without a bias; dsum may be undefined.
// sums_columns: the column sums of ds are expected.
Grads backward_of(const Tensor& s, const Tensor& weight, bool has_bias, const Tensor& mean,
                  const Tensor& rstd, const Tensor& dy, const Tensor& dsum, bool sums_columns) {
  Tensor ds = empty_like(s), dweight = empty_like(weight), dbias = empty_like(weight), column_sums;
  dispatch(s.device(), [&](auto tag) {
    if (sums_columns && norm_sums_columns(tag, s.dtype())) column_sums = empty_like(weight);
    layer_norm_backward(tag, s, weight, mean, rstd, dy, dsum, ds, dweight, dbias, column_sums);
  });
  if (column_sums.defined()) ds.keep_column_sums(column_sums);
  return {ds, dweight, has_bias ? dbias : Tensor()};
}

Tensor norm_of(const Tensor& x, const NormOf& of) {
  check(x, of);
  Norm norm = forward(x, {}, of);
  record(
      of.where, norm.y, {x, of.weight, of.bias},
      [s = x.detach(), weight = of.weight.detach(), has_bias = of.bias.defined(), mean = norm.mean,
       rstd = norm.rstd, sums_columns = expects_column_sums(x)](const Tensor& dy) {
        return backward_of(s, weight, has_bias, mean, rstd, dy, {}, sums_columns);
      });
  return norm.y;
}

SumAndNorm add_norm_of(const Tensor& x, const Tensor& residual, const NormOf& of) {
  check(x, of);
  require<ShapeError>(residual.shape() == x.shape(), of.where,
                      "expected a residual of the shape of x", x.shape(), ", got ",
                      residual.shape());
  require<DTypeError>(residual.dtype() == x.dtype(), of.where, "expected a residual in ", x.dtype(),
                      ", got ", residual.dtype());
  require<DeviceError>(residual.device() == x.device(), of.where, "expected a residual on ",
                       x.device(), ", got ", residual.device());
  Norm norm = forward(x, residual, of);
  record(of.where, {&norm.sum, &norm.y}, {x, residual, of.weight, of.bias},
         [s = norm.sum.detach(), weight = of.weight.detach(), has_bias = of.bias.defined(),
          mean = norm.mean, rstd = norm.rstd,
          sums_columns = expects_column_sums(x) ||
                         expects_column_sums(residual)](const std::vector<Tensor>& dys) {
           if (!dys[1].defined()) return Grads{dys[0], dys[0], {}, {}};
           const Grads grads =
               backward_of(s, weight, has_bias, mean, rstd, dys[1], dys[0], sums_columns);
           return Grads{grads[0], grads[0], grads[1], grads[2]};
         });
  return {norm.sum, norm.y};
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  return norm_of(x, {"layer_norm", true, weight, bias, eps});
}
Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  return norm_of(x, {"rms_norm", false, weight, {}, eps});
}

SumAndNorm add_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& weight,
                          const Tensor& bias, double eps) {
  return add_norm_of(x, residual, {"add_layer_norm", true, weight, bias, eps});
}
SumAndNorm add_rms_norm(const Tensor& x, const Tensor& residual, const Tensor& weight, double eps) {
  return add_norm_of(x, residual, {"add_rms_norm", false, weight, {}, eps});
}

}  // namespace farfield
