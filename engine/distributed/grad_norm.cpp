#include "engine/distributed/grad_norm.h"

#include "engine/autograd.h"
#include "engine/kernels.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"
#include "engine/optim.h"

namespace farfield {
namespace {

// [1]
Tensor square_sum(const std::vector<Tensor>& gradients, const Device& device) {
  Tensor norm = Tensor::empty({}, DType::f64, device);
  dispatch(device, [&](auto tag) { global_norm(tag, gradients, norm); });
  return reshape(square(norm), {1});
}

}  // namespace

Tensor device_grad_norm(const GradientParts& own, const ProcessGrid& processes,
                        const Device& device) {
  const NoGrad no_grad;
  Tensor sums = concat({square_sum(own.shards, device), square_sum(own.whole, device)}, 0);
  processes.data.sum(sums);
  Tensor shards = slice(sums, 0, 0, 1).clone();
  processes.tensor.sum(shards);
  return sqrt(reshape(shards + slice(sums, 0, 1, 2), {}));
}

Tensor device_grad_norm(const std::vector<Parameter>& parameters, const Group& tensor) {
  if (tensor.is_alone()) return device_grad_norm(parameters);
  GradientParts own;
  for (const Parameter& p : parameters)
    if (const Tensor gradient = p.value.grad(); gradient.defined())
      (p.shard.is_whole() ? own.whole : own.shards).push_back(gradient);
  return device_grad_norm(own, {.all = tensor, .data = {}, .tensor = tensor},
                          parameters.empty() ? Device{} : parameters.front().value.device());
}

}  // namespace farfield
