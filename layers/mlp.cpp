#include "layers/mlp.h"

#include "engine/ops/pointwise.h"

namespace farfield {
namespace {

constexpr const char* kGate = ".gate";

}  // namespace

Mlp Mlp::make(const Initializer& init, const std::string& name, const ModelConfig& config) {
  const std::string up = name + ".dense_h_to_4h", down = name + ".dense_4h_to_h";
  const int64_t d = config.d_model, d_ff = config.d_ff;
  const Shard rows = init.shard_of(0, d_ff), columns = init.shard_of(1, d_ff);
  if (config.init == InitScheme::neox) {
    const auto inner = [&](const std::string& of) {
      return Linear::make(init, of, d, d_ff, config.init_std, config.has_mlp_bias, rows);
    };
    return {.gate = config.is_gated() ? inner(name + kGate) : Linear(),
            .up = inner(up),
            .down = Linear::make(init, down, d_ff, d, scaled_std(config.init_std, config.n_layer),
                                 config.has_mlp_bias, columns),
            .activation = config.activation};
  }
  return {.gate = {},
          .up = Linear::make_uniform(init, up, d, d_ff, fan_in_bound(d), fan_in_bound(d), rows),
          .down = Linear::make_uniform(init, down, d_ff, d, fan_in_bound(d_ff), fan_in_bound(d_ff),
                                       columns),
          .activation = config.activation};
}

Tensor Mlp::operator()(const Tensor& x, const LayerDropout& drop) const {
  // GELU is part of the product; ReLU keeps its output alone, not its input too.
  const bool is_gelu = activation == MlpActivation::gelu;
  const Tensor y = up(x, is_gelu ? Activation::gelu : Activation::none, drop, "lora up");
  const auto activated = [&] {
    switch (activation) {
      case MlpActivation::gelu_tanh:
        return gelu_tanh(y);
      case MlpActivation::relu:
        return relu(y);
      case MlpActivation::swiglu:
        return swiglu(gate(x, Activation::none, drop, "lora gate"), y);
      default:
        return y;
    }
  };
  const Tensor inner = activated();
  return down(drop.masked(inner, drop.activation, "activation",
                          {.begin = up.shard.begin, .n_whole = up.shard.n_whole}),
              Activation::none, drop, "lora down");
}

void Mlp::add_adapters(const Initializer& init, const std::string& name,
                       const AdapterConfig& config) {
  const int64_t d = up.weight.dim(1), d_ff = down.shard.whole_of(down.weight.shape())[1];
  up.adapter = LowRank::make(init, name + ".dense_h_to_4h", d, d_ff, config, {"up"}, {}, up.shard);
  down.adapter =
      LowRank::make(init, name + ".dense_4h_to_h", d_ff, d, config, {"down"}, {}, down.shard);
  if (gate.weight.defined())
    gate.adapter = LowRank::make(init, name + kGate, d, d_ff, config, {"gate"}, {}, gate.shard);
}

std::vector<Linear*> Mlp::linears() {
  std::vector<Linear*> all{&up, &down};
  if (gate.weight.defined()) all.push_back(&gate);
  return all;
}

void Mlp::visit_adapters(const std::string& name, const Visit& f) const {
  gate.visit_adapter(name + kGate, f);
  up.visit_adapter(name + ".dense_h_to_4h", f);
  down.visit_adapter(name + ".dense_4h_to_h", f);
}

void Mlp::visit(const std::string& name, const Visit& f) const {
  if (gate.weight.defined()) gate.visit(name + kGate, f);
  up.visit(name + ".dense_h_to_4h", f);
  down.visit(name + ".dense_4h_to_h", f);
}

}  // namespace farfield
