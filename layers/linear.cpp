#include "layers/linear.h"

namespace farfield {

Linear Linear::make(const Initializer& init, const std::string& name, int64_t in, int64_t out,
                    double std, bool has_bias) {
  return {.weight = init.normal(name + ".weight", {out, in}, std),
          .bias = has_bias ? init.constant({out}, 0) : Tensor()};
}

Linear Linear::make_uniform(const Initializer& init, const std::string& name, int64_t in,
                            int64_t out, double weight_bound, double bias_bound) {
  return {.weight = init.uniform(name + ".weight", {out, in}, weight_bound),
          .bias = bias_bound == 0 ? init.constant({out}, 0)
                                  : init.uniform(name + ".bias", {out}, bias_bound)};
}

Tensor Linear::operator()(const Tensor& x, Activation activation) const {
  return linear(x, weight, bias, activation);
}

void Linear::visit(const std::string& name, const Visit& f) const {
  f({.name = name + ".weight", .value = weight, .decay = true});
  if (bias.defined()) f({.name = name + ".bias", .value = bias, .decay = false});
}

}  // namespace farfield
