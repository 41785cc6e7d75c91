#include "engine/distributed/grad_norm.h"

#include "engine/autograd.h"
#include "engine/ops/pointwise.h"
#include "engine/optim.h"

namespace farfield {

Tensor device_grad_norm(const std::vector<Parameter>& parameters, const Group& tensor) {
  if (tensor.is_alone()) return device_grad_norm(parameters);
  const NoGrad no_grad;
  std::vector<Parameter> shards, whole;
  for (const Parameter& p : parameters) (p.shard.is_whole() ? whole : shards).push_back(p);
  Tensor sum = square(device_grad_norm(shards));
  tensor.sum(sum);
  return sqrt(sum + square(device_grad_norm(whole)));
}

}  // namespace farfield
