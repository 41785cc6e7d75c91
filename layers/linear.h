#pragma once

#include "engine/ops/matmul.h"
#include "layers/init.h"
#include "layers/low_rank.h"
#include "layers/module.h"

namespace farfield {

/// y = f(x weight^T + bias) over the last dimension.
///
/// With tensor parallelism each process has either some of the outputs (a shard of dimension 0) and
/// all of x, or some of the inputs (a shard of dimension 1). In the second case the processes sum
/// their products, and the bias, which all have, is added once.
struct Linear {
  Tensor weight;     ///< [out, in]
  Tensor bias;       ///< [out], or undefined
  Shard shard = {};  ///< the part of the weight in this process
  Group group = {};  ///< the processes that have the others
  LowRank adapter = {};

  /// Weight N(0, std^2), bias 0.
  static Linear make(const Initializer& init, const std::string& name, int64_t in, int64_t out,
                     double std, bool has_bias = true, const Shard& shard = {});
  /// Uniform in +- these bounds; a bias_bound of 0: bias 0.
  static Linear make_uniform(const Initializer& init, const std::string& name, int64_t in,
                             int64_t out, double weight_bound, double bias_bound,
                             const Shard& shard = {});
  /// x [..., in] -> [..., out] in the dtype of x. `drop` drops inputs of the adapter, if there is
  /// one; `place` is its name there.
  Tensor operator()(const Tensor& x, Activation activation = Activation::none,
                    const LayerDropout& drop = {}, std::string_view place = "") const;
  /// The weight with the adapter's update, [out, in].
  Tensor adapted_weight() const;
  /// The layer's own parameters, and the parameters of its adapter.
  void visit(const std::string& name, const Visit& f) const;
  void visit_adapter(const std::string& name, const Visit& f) const { adapter.visit(name, f); }
};

}  // namespace farfield
