#include "layers/module.h"

#include "engine/distributed/gather.h"
#include "engine/ops/reduce.h"

namespace farfield {

std::string first_nonfinite_gradient(const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters) {
    const Tensor gradient = p.value.grad();
    if (gradient.defined() && !is_finite(gradient)) return p.name;
  }
  return "";
}

void load_parameters(const std::vector<Parameter>& parameters,
                     const std::map<std::string, Tensor>& tensors) {
  for (const Parameter& p : parameters) {
    const auto found = tensors.find(p.name);
    require<IoError>(found != tensors.end(), "model", "expected a tensor '", p.name,
                     "', got none of that name");
    const Tensor& source = found->second;
    const Shape whole = p.shard.whole_of(p.value.shape());
    require<IoError>(source.shape() == whole && is_float(source.dtype()), "model", "expected '",
                     p.name, "' of shape ", whole, ", got ", source.dtype(), " ", source.shape(),
                     "; is it of another model?");
  }
  for (Parameter p : parameters) p.value.assign(own_shard(tensors.at(p.name), p.shard));
}

FrozenParameters::FrozenParameters(const std::vector<Parameter>& parameters) {
  for (const Parameter& p : parameters)
    if (p.value.requires_grad()) trained_.push_back(p.value);
  for (Tensor& x : trained_) x.set_requires_grad(false);
}

FrozenParameters::~FrozenParameters() {
  for (Tensor& x : trained_) x.set_requires_grad();
}

}  // namespace farfield
