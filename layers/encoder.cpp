#include "layers/encoder.h"

#include "engine/base/error.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"

namespace farfield {

void see_later(Heads& heads, AttentionRule& rule) {
  rule.window = heads.k.dim(2);
  heads.k = concat({heads.k, heads.k}, 2);
  heads.v = concat({heads.v, heads.v}, 2);
  if (Tensor& scale = rule.row_scale; scale.defined()) {
    const int64_t n = scale.dim(0);
    scale = Tensor::full({n}, 1, scale.dtype(), scale.device()) * slice(scale, 0, n - 1, n);
  }
}

void require_no_distances(const posenc::Composition& encoding) {
  for (const auto phase : {posenc::Phase::train, posenc::Phase::eval})
    for (const auto& [rotation, rule] : encoding.plan(2, 2, phase).layers)
      require<ConfigError>(
          !rule.bias.defined() && !rule.weight.defined() && !rule.row_bias.feature.defined() &&
              rule.window == 0 && rule.switch_distance == 0 && !rotation.far.cos_q.defined(),
          "model",
          "expected absolute or rotary positions, or none, for an encoder, whose tokens see later "
          "ones; got '",
          encoding.canonical(), "', which tells keys apart by their distance from a later query");
}

}  // namespace farfield
