#pragma once

#include <cstdint>
#include <string_view>

#include "engine/distributed/group.h"
#include "engine/shard.h"
#include "engine/tensor.h"

namespace farfield {

/// Makes initial values. Number i of a parameter is a pure function of (seed, name, i), so it
/// depends neither on the order in which layers are made nor on what else the model contains, nor
/// on the number of processes that share the parameter: each draws its own part.
struct Initializer {
  uint64_t seed = 0;
  DType dtype = DType::f32;  ///< of the parameters: float32, or float64 in gradient checks
  Device device = {};
  Group tensor = {};  ///< the processes that have the model together
  bool draws = true;  ///< false: random values are left unset, for weights that will be loaded

  // `shape` is the shape of the whole parameter; the result is a shard of it.

  /// N(0, std^2), rounded to float32 whatever the dtype.
  Tensor normal(std::string_view name, const Shape& shape, double std,
                const Shard& shard = {}) const;
  /// Uniform in [-bound, bound), rounded to float32 whatever the dtype.
  Tensor uniform(std::string_view name, const Shape& shape, double bound,
                 const Shard& shard = {}) const;
  Tensor constant(const Shape& shape, double value, const Shard& shard = {}) const;

  /// The part of this process of n_unit units of `unit` elements along a dimension.
  Shard shard_of(int dim, int64_t n_unit, int64_t unit = 1) const {
    return Shard::of(dim, n_unit, unit, tensor.rank(), tensor.size());
  }
};

/// Standard deviation of weights that write into the residual stream: init_std / sqrt(2 n_layer),
/// as in GPT-NeoX's scaled_normal.
double scaled_std(double init_std, int64_t n_layer);

// The two schemes: neox, and fairseq (transformer_lm in ofirpress/attention_with_linear_biases).
// "Xavier" is uniform in +- xavier_bound(), "fan-in" uniform in +- fan_in_bound().
//
//                      neox                 fairseq
//   embedding, head    N(0, init_std^2)     N(0, 1 / d_model)
//   q, k, v            N(0, init_std^2)     Xavier with gain 1 / sqrt(2), each for itself
//   attention out      N(0, scaled_std()^2) Xavier
//   MLP in             N(0, init_std^2)     fan-in
//   MLP out            N(0, scaled_std()^2) fan-in
//   biases             0                    attention out 0, others fan-in

/// 1 / sqrt(in), of a linear layer with `in` inputs.
double fan_in_bound(int64_t in);
/// gain sqrt(6 / (in + out)), of a matrix [out, in].
/// Source    Glorot and Bengio 2010, "Understanding the difficulty of training deep feedforward
///           neural networks", equation 16
double xavier_bound(int64_t in, int64_t out, double gain = 1);

}  // namespace farfield
