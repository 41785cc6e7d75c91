#include "layers/mlp.h"

#include "engine/ops/pointwise.h"

namespace farfield {

Mlp Mlp::make(const Initializer& init, const std::string& name, const ModelConfig& config) {
  const std::string up = name + ".dense_h_to_4h", down = name + ".dense_4h_to_h";
  const int64_t d = config.d_model, d_ff = config.d_ff;
  const Shard rows = init.shard_of(0, d_ff), columns = init.shard_of(1, d_ff);
  if (config.init == InitScheme::neox)
    return {.up = Linear::make(init, up, d, d_ff, config.init_std, /*has_bias=*/true, rows),
            .down = Linear::make(init, down, d_ff, d, scaled_std(config.init_std, config.n_layer),
                                 /*has_bias=*/true, columns),
            .activation = config.activation};
  return {.up = Linear::make_uniform(init, up, d, d_ff, fan_in_bound(d), fan_in_bound(d), rows),
          .down = Linear::make_uniform(init, down, d_ff, d, fan_in_bound(d_ff), fan_in_bound(d_ff),
                                       columns),
          .activation = config.activation};
}

Tensor Mlp::operator()(const Tensor& x, const LayerDropout& drop) const {
  // GELU is part of the product; ReLU keeps its output alone, not its input too.
  const Tensor inner = activation == MlpActivation::gelu ? up(x, Activation::gelu) : relu(up(x));
  return down(drop.masked(inner, drop.activation, "activation",
                          {.begin = up.shard.begin, .n_whole = up.shard.n_whole}));
}

void Mlp::visit(const std::string& name, const Visit& f) const {
  up.visit(name + ".dense_h_to_4h", f);
  down.visit(name + ".dense_4h_to_h", f);
}

}  // namespace farfield
