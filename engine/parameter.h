#pragma once

#include <string>

#include "engine/tensor.h"

namespace farfield {

/// A trained tensor under the name that checkpoints use. Master values are float32 (float64 in
/// gradient checks); ops that compute in bfloat16 round them on the way in.
struct Parameter {
  std::string name;
  Tensor value;  ///< a leaf with requires_grad(), unless frozen
  bool decay =
      true;  ///< subject to weight decay: matrices only; norms, biases and encodings are not
};

}  // namespace farfield
