#include "engine/ops/softmax.h"

#include "engine/autograd.h"
#include "engine/kernels.h"

namespace farfield {
namespace {

Tensor softmax_or_log(const Tensor& x, bool is_log, const char* name) {
  require<ShapeError>(x.rank() > 0, name, "expected at least one dimension, got shape ", x.shape());
  require<DTypeError>(is_float(x.dtype()), name, "expected a floating type, got ", x.dtype());
  Tensor y = empty_like(x);
  dispatch(x.device(), [&](auto tag) { softmax_forward(tag, x, is_log, y); });
  record(name, y, {x}, [y = y.detach(), is_log](const Tensor& dy) {
    // softmax: dx_i = y_i (dy_i - sum_j y_j dy_j); its log: dx_i = dy_i - exp(y_i) sum_j dy_j
    Tensor dx = empty_like(dy);
    dispatch(dy.device(), [&](auto tag) { softmax_backward(tag, y, dy, is_log, dx); });
    return Grads{dx};
  });
  return y;
}

}  // namespace

Tensor softmax(const Tensor& x) { return softmax_or_log(x, false, "softmax"); }
Tensor log_softmax(const Tensor& x) { return softmax_or_log(x, true, "log_softmax"); }

}  // namespace farfield
