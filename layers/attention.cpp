#include "layers/attention.h"

#include <cmath>
#include <utility>

#include "engine/ops/attention.h"
#include "engine/ops/split_heads.h"
#include "engine/ops/view.h"
#include "layers/encoder.h"
#include "layers/own_heads.h"

namespace farfield {

Attention Attention::make(const Initializer& init, const std::string& name,
                          const ModelConfig& config) {
  const std::string qkv = name + ".query_key_value", dense = name + ".dense";
  const HeadCounts heads = config.heads();
  const int64_t d = config.d_model, head_dim = config.head_dim(), d_heads = heads.n_head * head_dim;
  const int64_t n_group = heads.n_kv_head;
  const Shard rows = init.shard_of(0, n_group, heads.n_part() / n_group * head_dim),
              columns = init.shard_of(1, n_group, heads.group_size() * head_dim);
  const comm::Range own = own_heads(heads.n_head, init.tensor);
  if (config.init == InitScheme::neox)
    return {
        .qkv = Linear::make(init, qkv, d, heads.n_part() * head_dim, config.init_std,
                            config.has_qkv_bias, rows),
        .dense = Linear::make(init, dense, d_heads, d, scaled_std(config.init_std, config.n_layer),
                              config.has_dense_bias, columns),
        .heads = heads,
        .own = own,
        .sees_later = config.sees_later};
  return {.qkv = Linear::make_uniform(init, qkv, d, 3 * d, xavier_bound(d, d, std::sqrt(0.5)),
                                      fan_in_bound(d), rows),
          .dense = Linear::make_uniform(init, dense, d, d, xavier_bound(d, d), 0, columns),
          .heads = heads,
          .own = own,
          .sees_later = config.sees_later};
}

Tensor Attention::operator()(const Tensor& x, const posenc::Composition::Layer& position,
                             const LayerDropout& drop) const {
  AttentionRule rule = position.rule;
  rule.dropout = {.p = drop.attention,
                  .random = drop.random("attention weights"),
                  .stream = drop.stream("attention weights"),
                  .first_head = drop.first * heads.n_head + own.begin,
                  .n_head = heads.n_head};
  Tensor packed = qkv(x, Activation::none, drop, "lora qkv");
  const auto all = [&] {
    if (!sees_later) return attention(std::move(packed), own_counts(), rule, position.rotation);
    Heads split = split_heads(packed, own_counts(), position.rotation);
    see_later(split, rule);
    return attention(split.q, split.k, split.v, rule);
  };
  return dense(all(), Activation::none, drop, "lora dense");
}

Tensor Attention::last_rows(const Tensor& x, const posenc::Composition::Layer& position,
                            int64_t n_row, CachedLayer* cache) const {
  const int64_t n = x.dim(1), first = cache != nullptr ? cache->n_seen() : 0;
  Heads split = split_heads(qkv(x), own_counts(), part_of(position.rotation, first, first + n));
  AttentionRule rule = position.rule;
  if (sees_later) see_later(split, rule);
  SequencePart part = cache != nullptr ? cache->append(split) : SequencePart{.end = n};
  part.first = part.end - n_row;
  const auto last = [&](const Tensor& q) {  // [B, H, n_row, K]
    return q.defined() ? slice(q, 2, n - n_row, n) : q;
  };
  split.q = last(split.q);
  split.far.q = last(split.far.q);
  return dense(attention(split, part_of(rule, part)));
}

Tensor Attention::output_of(const Tensor& x, const posenc::Composition::Layer& position,
                            const Tensor& values) const {
  Heads split = split_heads(qkv(x), own_counts(), position.rotation);
  AttentionRule rule = position.rule;
  split.v = values;
  if (sees_later) see_later(split, rule);
  return attention(split, rule);
}

void Attention::add_adapters(const Initializer& init, const std::string& name,
                             const AdapterConfig& config) {
  const int64_t d = qkv.weight.dim(1), out = qkv.shard.whole_of(qkv.weight.shape())[0];
  const int64_t d_heads = dense.shard.whole_of(dense.weight.shape())[1];
  qkv.adapter = LowRank::make(init, name + ".query_key_value", d, out, config, {"q", "k", "v"},
                              qkv_part_rows(heads, d_heads / heads.n_head), qkv.shard);
  dense.adapter =
      LowRank::make(init, name + ".dense", d_heads, d, config, {"dense"}, {}, dense.shard);
}

std::vector<int64_t> qkv_part_rows(const HeadCounts& heads, int64_t head_dim) {
  return {heads.group_size() * head_dim, head_dim, head_dim};
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
