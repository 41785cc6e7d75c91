#pragma once

#include "layers/attention.h"
#include "layers/config.h"
#include "layers/dropout.h"
#include "layers/mlp.h"
#include "layers/norm.h"

namespace farfield {

/// x = x + drop(attention(norm(x))), then x = x + drop(mlp(norm(x))): pre-norm, one after the
/// other. Parallel: x = x + drop(attention(norm(x))) + drop(mlp(norm'(x))).
struct Block {
  Norm attention_norm;
  Attention attention;
  Norm mlp_norm;
  Mlp mlp;
  bool is_parallel = false;

  static Block make(const Initializer& init, const std::string& name, const ModelConfig& config);
  /// [B, T, D] -> [B, T, D]; the MLP's output is left to the next norm to add.
  Residual operator()(Residual stream, const posenc::Composition::Layer& position,
                      const LayerDropout& drop = {}) const;
  /// The same, keeping only its inputs: backward() computes the block again. Same bits.
  Residual checkpointed(const Residual& stream, const posenc::Composition::Layer& position,
                        const LayerDropout& drop = {}) const;
  /// The last n_row positions alone, [B, n_row, D], for a last block; with a cache, as attention's.
  Residual last_rows(Residual stream, const posenc::Composition::Layer& position, int64_t n_row,
                     CachedLayer* cache = nullptr) const;
  /// Attention::output_of() of the block's input.
  Tensor attended(const Residual& stream, const posenc::Composition::Layer& position,
                  const Tensor& values) const;
  void visit(const std::string& name, const Visit& f) const;
  std::vector<Linear*> linears();
  /// Adapters of the layers that the config names, and their parameters.
  void add_adapters(const Initializer& init, const std::string& name, const AdapterConfig& config);
  void visit_adapters(const std::string& name, const Visit& f) const;

 private:
  /// The stream after the block, from the stream before it, added up, and attention's output.
  Residual after(Tensor before, Tensor branch, const LayerDropout& drop) const;
};

}  // namespace farfield
