#include "layers/norm.h"

namespace farfield {

Norm Norm::make(const Initializer& init, const ModelConfig& config) {
  const Shape row{config.d_model};
  return {.kind = config.norm,
          .weight = init.constant(row, 1),
          .bias = config.has_norm_biases() ? init.constant(row, 0) : Tensor(),
          .eps = config.ln_eps};
}

SumAndNorm Norm::operator()(Residual stream) const {
  const bool is_rms = kind == NormKind::rms;
  const auto& [x, branch] = stream;
  if (branch.defined())
    return is_rms ? add_rms_norm(branch, x, weight, eps)
                  : add_layer_norm(branch, x, weight, bias, eps);
  return {x, is_rms ? rms_norm(x, weight, eps) : layer_norm(x, weight, bias, eps)};
}

void Norm::visit(const std::string& name, const Visit& f) const {
  f({.name = name + ".weight", .value = weight, .decay = false});
  if (bias.defined()) f({.name = name + ".bias", .value = bias, .decay = false});
}

}  // namespace farfield
