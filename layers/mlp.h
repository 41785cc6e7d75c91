#pragma once

#include "layers/config.h"
#include "layers/dropout.h"
#include "layers/linear.h"

namespace farfield {

/// down(activation(up(x))), or with a gate down(silu(gate(x)) up(x)). With tensor parallelism each
/// process has a part of the inner layer.
struct Mlp {
  Linear gate = {};  ///< [d_ff, D]; of a gated MLP alone
  Linear up = {};    ///< [d_ff, D]
  Linear down = {};  ///< [D, d_ff]
  MlpActivation activation = MlpActivation::gelu;

  static Mlp make(const Initializer& init, const std::string& name, const ModelConfig& config);
  /// x [..., D] -> [..., D]
  Tensor operator()(const Tensor& x, const LayerDropout& drop = {}) const;
  void visit(const std::string& name, const Visit& f) const;
  std::vector<Linear*> linears();
  /// Adapters of the layers that the config names, and their parameters.
  void add_adapters(const Initializer& init, const std::string& name, const AdapterConfig& config);
  void visit_adapters(const std::string& name, const Visit& f) const;
};

}  // namespace farfield
