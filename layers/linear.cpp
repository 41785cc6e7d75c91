#include "layers/linear.h"

#include "engine/ops/group_sum.h"
#include "engine/ops/pointwise.h"

namespace farfield {
namespace {

// The bias goes by output, as rows of the weight do.
Shard of_bias(const Shard& shard) { return shard.dim == 0 ? shard : Shard{}; }

}  // namespace

Linear Linear::make(const Initializer& init, const std::string& name, int64_t in, int64_t out,
                    double std, bool has_bias, const Shard& shard) {
  return {.weight = init.normal(name + ".weight", {out, in}, std, shard),
          .bias = has_bias ? init.constant({out}, 0, of_bias(shard)) : Tensor(),
          .shard = shard,
          .group = init.tensor};
}

Linear Linear::make_uniform(const Initializer& init, const std::string& name, int64_t in,
                            int64_t out, double weight_bound, double bias_bound,
                            const Shard& shard) {
  return {.weight = init.uniform(name + ".weight", {out, in}, weight_bound, shard),
          .bias = bias_bound == 0 ? init.constant({out}, 0, of_bias(shard))
                                  : init.uniform(name + ".bias", {out}, bias_bound, of_bias(shard)),
          .shard = shard,
          .group = init.tensor};
}

Tensor Linear::operator()(const Tensor& x, Activation activation, const LayerDropout& drop,
                          std::string_view place) const {
  if (!adapter.is_empty()) {
    Linear own = *this;
    own.adapter = {};
    if (adapter.magnitude.defined()) own.bias = {};
    Tensor y = own(x) + adapter(x, drop, place);
    if (adapter.magnitude.defined()) {
      y = cast(y, accumulate_dtype(x.dtype())) * adapter.row_factors(weight);
      if (bias.defined()) y = y + bias;
      y = cast(y, x.dtype());
    }
    return activation == Activation::gelu ? gelu(y) : y;
  }
  if (shard.is_whole()) return linear(x, weight, bias, activation);
  if (shard.dim == 0) return linear(group_copy(x, group), weight, bias, activation);
  require<ConfigError>(activation == Activation::none, "linear",
                       "expected no activation behind a sum over processes");
  Tensor y = group_sum(cast(linear(x, weight), accumulate_dtype(x.dtype())), group);
  if (bias.defined()) y = y + bias;
  return cast(y, x.dtype());
}

Tensor Linear::adapted_weight() const {
  return adapter.is_empty() ? weight : adapter.adapted(weight);
}

void Linear::visit(const std::string& name, const Visit& f) const {
  f({.name = name + ".weight", .value = weight, .decay = true, .shard = shard, .is_rounded = true});
  if (bias.defined())
    f({.name = name + ".bias",
       .value = bias,
       .decay = false,
       .shard = of_bias(shard),
       .is_rounded = true});
}

}  // namespace farfield
