#pragma once

#include "layers/cache.h"
#include "layers/config.h"
#include "layers/dropout.h"
#include "layers/linear.h"
#include "posenc/composition.h"

namespace farfield {

/// Multi-head self-attention with the positional encoding's rule, causal but for an encoder's. With
/// tensor parallelism each process has some of the heads.
struct Attention {
  /// [3 H K, D]; row (h * 3 + p) * K + c is component c of q, k, v (p = 0, 1, 2) of head h, as
  /// GPT-NeoX stores it; with grouped queries [(H + 2 G) K, D], as split_heads() takes it.
  Linear qkv;
  Linear dense;              ///< [D, H K]
  HeadCounts heads = {1};    ///< of all processes
  comm::Range own = {0, 1};  ///< the heads of this process, whose tables are in `position` below
  bool sees_later = false;   ///< as ModelConfig::sees_later

  static Attention make(const Initializer& init, const std::string& name,
                        const ModelConfig& config);
  /// x [B, T, D] -> [B, T, D]
  Tensor operator()(const Tensor& x, const posenc::Composition::Layer& position,
                    const LayerDropout& drop = {}) const;
  /// The last n_row rows of that alone: [B, T, D] -> [B, n_row, D]. With a cache, x is what comes
  /// after the tokens that it has seen, and position is planned for the whole sequence; the cache
  /// has seen x too then.
  Tensor last_rows(const Tensor& x, const posenc::Composition::Layer& position, int64_t n_row,
                   CachedLayer* cache = nullptr) const;
  /// What the heads attend to: their output for these values, [B, G, T, K], instead of their own.
  /// Not differentiable.
  Tensor output_of(const Tensor& x, const posenc::Composition::Layer& position,
                   const Tensor& values) const;
  void visit(const std::string& name, const Visit& f) const;
  std::vector<Linear*> linears() { return {&qkv, &dense}; }
  /// Adapters of the projections that the config names, and their parameters.
  void add_adapters(const Initializer& init, const std::string& name, const AdapterConfig& config);
  void visit_adapters(const std::string& name, const Visit& f) const;

 private:
  HeadCounts own_counts() const { return {own.size(), own.size() / heads.group_size()}; }
};

/// Rows of q, k and v in each group of the QKV projection (HeadCounts).
std::vector<int64_t> qkv_part_rows(const HeadCounts& heads, int64_t head_dim);

}  // namespace farfield
