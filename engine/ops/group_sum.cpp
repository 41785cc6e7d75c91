#include "engine/ops/group_sum.h"

#include "engine/autograd.h"
#include "engine/ops/pointwise.h"

namespace farfield {
namespace {

void check(std::string_view where, const Tensor& x) {
  require<DTypeError>(is_float(x.dtype()), where, "expected a floating type, got ", x.dtype());
}

// Without history.
Tensor summed(const Tensor& x, const Group& group) {
  const NoGrad no_grad;
  const bool is_narrow = x.dtype() == DType::bf16;
  Tensor sum = is_narrow ? cast(x.detach(), DType::f32) : x.clone();
  group.sum(sum);
  return is_narrow ? cast(sum, DType::bf16) : sum;
}

}  // namespace

Tensor group_copy(const Tensor& x, const Group& group) {
  check("group_copy", x);
  if (group.is_alone() || !will_record({x})) return x;
  Tensor y = x.detach();
  record("group_copy", y, {x}, [group](const Tensor& dy) { return Grads{summed(dy, group)}; });
  return y;
}

Tensor group_sum(const Tensor& x, const Group& group) {
  check("group_sum", x);
  if (group.is_alone()) return x;
  Tensor y = summed(x, group);
  record("group_sum", y, {x}, [](const Tensor& dy) { return Grads{dy}; });
  return y;
}

}  // namespace farfield
