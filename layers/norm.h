#pragma once

#include "engine/ops/norm.h"
#include "layers/config.h"
#include "layers/init.h"
#include "layers/module.h"

namespace farfield {

/// The residual stream between two layers: its value is x + branch, not added up yet, so that one
/// pass over memory adds and normalises.
struct Residual {
  Tensor x;       ///< [B, T, D]
  Tensor branch;  ///< [B, T, D], or undefined for zero
};

/// A norm over the last dimension, statistics in float32 or wider.
struct Norm {
  NormKind kind = NormKind::layer;
  Tensor weight;      ///< [D]
  Tensor bias;        ///< [D], or undefined
  double eps = 1e-5;  ///< added to the variance, or to the mean of squares

  /// Weight 1, bias 0.
  static Norm make(const Initializer& init, const ModelConfig& config);
  /// The stream added up, and its norm.
  SumAndNorm operator()(Residual stream) const;
  void visit(const std::string& name, const Visit& f) const;
};

}  // namespace farfield
