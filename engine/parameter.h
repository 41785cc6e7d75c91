#pragma once

#include <limits>
#include <string>

#include "engine/shard.h"
#include "engine/tensor.h"

namespace farfield {

/// What values are kept between.
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
  /// Of every element, as its dtype has them; an optimizer's step may leave them, project() puts
  /// the values back.
  Bounds bounds = {};
  /// What `value` is of the tensor that a checkpoint keeps, where several processes have a model
  /// together; a whole one they all have, with the same bits.
  Shard shard = {};
  /// The model reads all of it in the type of its activations, which rounds it, and not only what
  /// was looked up or computed from it: who updates it in every step should keep it rounded
  /// (Tensor::keep_rounded()).
  bool is_rounded = false;
};

}  // namespace farfield
