#include "layers/linear.h"

namespace farfield {

Linear Linear::make(const Initializer& init, const std::string& name, int64_t in, int64_t out,
                    double std, bool has_bias) {
  return {.weight = init.normal(name + ".weight", {out, in}, std),
          .bias = has_bias ? init.constant({out}, 0) : Tensor()};
}

Tensor Linear::operator()(const Tensor& x, Activation activation) const {
  return linear(x, weight, bias, activation);
}

void Linear::visit(const std::string& name, const Visit& f) const {
  f({.name = name + ".weight", .value = weight, .decay = true});
  if (bias.defined()) f({.name = name + ".bias", .value = bias, .decay = false});
}

}  // namespace farfield
