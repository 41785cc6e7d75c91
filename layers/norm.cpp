#include "layers/norm.h"

namespace farfield {

LayerNorm LayerNorm::make(const Initializer& init, int64_t d_model, double eps) {
  return {.weight = init.constant({d_model}, 1), .bias = init.constant({d_model}, 0), .eps = eps};
}

SumAndNorm LayerNorm::operator()(Residual stream) const {
  if (!stream.branch.defined()) return {stream.x, layer_norm(stream.x, weight, bias, eps)};
  return add_layer_norm(stream.branch, stream.x, weight, bias, eps);
}

void LayerNorm::visit(const std::string& name, const Visit& f) const {
  f({.name = name + ".weight", .value = weight, .decay = false});
  f({.name = name + ".bias", .value = bias, .decay = false});
}

}  // namespace farfield
