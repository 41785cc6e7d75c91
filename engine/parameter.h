#pragma once

#include <limits>
#include <string>

#include "engine/shard.h"
#include "engine/tensor.h"

namespace farfield {

/// Bounds of values.
struct Bounds {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

/// A trained tensor under the name that checkpoints use. Master values are float32 (float64 in
/// gradient checks); ops that compute in bfloat16 round them on the way in.
struct Parameter {
  std::string name;
  Tensor value;  ///< a leaf with requires_grad(), unless frozen
  bool decay =
      true;  ///< subject to weight decay: matrices only; norms, biases and encodings are not
  /// Bounds of every element, rounded to its dtype; an optimizer's step may leave them, and
  /// project() puts the values back.
  Bounds bounds = {};
  /// With tensor parallelism, the part of the checkpoint's tensor that `value` is; a whole tensor
  /// is the same in all processes, with the same bits.
  Shard shard = {};
  /// The model reads the whole tensor rounded to the type of its activations, not only looked-up
  /// rows or computed values: an optimizer should keep it rounded (Tensor::keep_rounded()).
  bool is_rounded = false;
};

}  // namespace farfield
