#include "layers/block.h"

#include <utility>

#include "engine/autograd.h"
#include "engine/ops/view.h"

namespace farfield {

Block Block::make(const Initializer& init, const std::string& name, const ModelConfig& config) {
  return {.attention_norm = Norm::make(init, config),
          .attention = Attention::make(init, name + ".attention", config),
          .mlp_norm = Norm::make(init, config),
          .mlp = Mlp::make(init, name + ".mlp", config),
          .is_parallel = config.is_parallel};
}

Residual Block::after(Tensor before, Tensor branch, const LayerDropout& drop) const {
  if (is_parallel) {
    const Tensor normed = mlp_norm({.x = before, .branch = {}}).normed;
    return {.x = before + branch, .branch = drop(mlp(normed, drop), "mlp")};
  }
  SumAndNorm at = mlp_norm({.x = std::move(before), .branch = std::move(branch)});
  return {.x = std::move(at.sum), .branch = drop(mlp(at.normed, drop), "mlp")};
}

Residual Block::operator()(Residual stream, const posenc::Composition::Layer& position,
                           const LayerDropout& drop) const {
  // Moved on, so that nothing is kept longer than a gradient needs it.
  SumAndNorm at = attention_norm(std::move(stream));
  Tensor branch = drop(attention(at.normed, position, drop), "attention");
  at.normed = {};
  return after(std::move(at.sum), std::move(branch), drop);
}

Residual Block::checkpointed(const Residual& stream, const posenc::Composition::Layer& position,
                             const LayerDropout& drop) const {
  // The tables may have a history of their own, so they are inputs like the stream.
  const auto run = [block = *this, position, drop](const std::vector<Tensor>& inputs) {
    posenc::Composition::Layer layer = position;
    auto input = inputs.begin() + 2;
    for_each_table(layer.rule, [&](Tensor& table) { table = *input++; });
    const Residual out = block({.x = inputs[0], .branch = inputs[1]}, layer, drop);
    return std::vector<Tensor>{out.x, out.branch};
  };
  std::vector<Tensor> inputs{stream.x, stream.branch};
  for_each_table(position.rule, [&](const Tensor& table) { inputs.push_back(table); });
  // Of frozen embeddings the first inputs need no gradient, but the adapters of the block do.
  Tensor trained;
  const Visit find = [&](const Parameter& p) {
    if (!trained.defined() && p.value.requires_grad()) trained = p.value;
  };
  visit("", find);
  visit_adapters("", find);
  if (trained.defined() && !will_record(inputs)) inputs.push_back(trained);
  const std::vector<Tensor> out = checkpoint(run, inputs);
  return {.x = out[0], .branch = out[1]};
}

Residual Block::last_rows(Residual stream, const posenc::Composition::Layer& position,
                          int64_t n_row, CachedLayer* cache) const {
  const int64_t n = stream.x.dim(1);
  SumAndNorm at = attention_norm(std::move(stream));
  Tensor branch = attention.last_rows(at.normed, position, n_row, cache);
  return after(slice(at.sum, 1, n - n_row, n), std::move(branch), {});
}

Tensor Block::attended(const Residual& stream, const posenc::Composition::Layer& position,
                       const Tensor& values) const {
  return attention.output_of(attention_norm(stream).normed, position, values);
}

void Block::add_adapters(const Initializer& init, const std::string& name,
                         const AdapterConfig& config) {
  attention.add_adapters(init, name + ".attention", config);
  mlp.add_adapters(init, name + ".mlp", config);
}

void Block::visit_adapters(const std::string& name, const Visit& f) const {
  attention.visit_adapters(name + ".attention", f);
  mlp.visit_adapters(name + ".mlp", f);
}

std::vector<Linear*> Block::linears() {
  std::vector<Linear*> all = attention.linears(), of_mlp = mlp.linears();
  all.insert(all.end(), of_mlp.begin(), of_mlp.end());
  return all;
}

void Block::visit(const std::string& name, const Visit& f) const {
  attention_norm.visit(name + ".input_layernorm", f);
  attention.visit(name + ".attention", f);
  mlp_norm.visit(name + ".post_attention_layernorm", f);
  mlp.visit(name + ".mlp", f);
}

}  // namespace farfield
