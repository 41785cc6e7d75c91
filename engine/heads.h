#pragma once

#include "engine/tensor.h"

namespace farfield {

/// The copies of q and k that far pairs take (AttentionRule::switch_distance), of the shapes of q
/// and k; both or none.
struct FarHeads {
  Tensor q = {}, k = {};
  bool defined() const { return q.defined() || k.defined(); }
};

/// Queries, keys and values by head, [B, H, T, K].
struct Heads {
  Tensor q = {}, k = {}, v = {};
  FarHeads far = {};  ///< undefined without Rotation::far
};

}  // namespace farfield
