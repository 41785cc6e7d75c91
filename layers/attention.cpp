#include "layers/attention.h"

#include <cmath>

#include "engine/ops/attention.h"
#include "engine/ops/split_heads.h"
#include "engine/ops/view.h"
#include "layers/encoder.h"
#include "layers/own_heads.h"

namespace farfield {

Attention Attention::make(const Initializer& init, const std::string& name,
                          const ModelConfig& config) {
  const std::string qkv = name + ".query_key_value", dense = name + ".dense";
  const int64_t d = config.d_model, n_head = config.n_head;
  const Shard rows = init.shard_of(0, n_head, 3 * config.head_dim()),
              columns = init.shard_of(1, n_head, config.head_dim());
  const comm::Range own = own_heads(n_head, init.tensor);
  if (config.init == InitScheme::neox)
    return {.qkv = Linear::make(init, qkv, d, 3 * d, config.init_std, /*has_bias=*/true, rows),
            .dense = Linear::make(init, dense, d, d, scaled_std(config.init_std, config.n_layer),
                                  /*has_bias=*/true, columns),
            .n_head = n_head,
            .own = own,
            .sees_later = config.sees_later};
  return {.qkv = Linear::make_uniform(init, qkv, d, 3 * d, xavier_bound(d, d, std::sqrt(0.5)),
                                      fan_in_bound(d), rows),
          .dense = Linear::make_uniform(init, dense, d, d, xavier_bound(d, d), 0, columns),
          .n_head = n_head,
          .own = own,
          .sees_later = config.sees_later};
}

Tensor Attention::operator()(const Tensor& x, const posenc::Composition::Layer& position,
                             const LayerDropout& drop) const {
  AttentionRule rule = position.rule;
  rule.dropout = {.p = drop.attention,
                  .random = drop.random("attention weights"),
                  .stream = drop.stream("attention weights"),
                  .first_head = drop.first * n_head + own.begin,
                  .n_head = n_head};
  const Tensor packed = qkv(x, Activation::none, drop, "lora qkv");
  const auto all = [&] {
    if (!sees_later) return attention(packed, own.size(), rule, position.rotation);
    Heads heads = split_heads(packed, own.size(), position.rotation);
    see_later(heads, rule);
    return attention(heads.q, heads.k, heads.v, rule);
  };
  return dense(all(), Activation::none, drop, "lora dense");
}

Tensor Attention::last_rows(const Tensor& x, const posenc::Composition::Layer& position,
                            int64_t n_row, CachedLayer* cache) const {
  const int64_t n = x.dim(1), first = cache != nullptr ? cache->n_seen() : 0;
  auto heads = split_heads(qkv(x), own.size(), part_of(position.rotation, first, first + n));
  AttentionRule rule = position.rule;
  if (sees_later) see_later(heads, rule);
  SequencePart part = cache != nullptr ? cache->append(heads) : SequencePart{.end = n};
  part.first = part.end - n_row;
  const auto last = [&](const Tensor& q) {  // [B, H, n_row, K]
    return q.defined() ? slice(q, 2, n - n_row, n) : q;
  };
  return dense(attention(last(heads.q), heads.k, heads.v, part_of(rule, part),
                         {last(heads.far.q), heads.far.k}));
}

Tensor Attention::output_of(const Tensor& x, const posenc::Composition::Layer& position,
                            const Tensor& values) const {
  Heads heads = split_heads(qkv(x), own.size(), position.rotation);
  AttentionRule rule = position.rule;
  heads.v = values;
  if (sees_later) see_later(heads, rule);
  return attention(heads.q, heads.k, heads.v, rule, heads.far);
}

void Attention::add_adapters(const Initializer& init, const std::string& name,
                             const AdapterConfig& config) {
  const int64_t d = qkv.weight.dim(1), head_dim = d / n_head;
  qkv.adapter = LowRank::make(init, name + ".query_key_value", d, 3 * d, config, {"q", "k", "v"},
                              head_dim, qkv.shard);
  dense.adapter =
      LowRank::make(init, name + ".dense", d, d, config, {"dense"}, head_dim, dense.shard);
}

void Attention::visit_adapters(const std::string& name, const Visit& f) const {
  qkv.visit_adapter(name + ".query_key_value", f);
  dense.visit_adapter(name + ".dense", f);
}

void Attention::visit(const std::string& name, const Visit& f) const {
  qkv.visit(name + ".query_key_value", f);
  dense.visit(name + ".dense", f);
}

}  // namespace farfield
