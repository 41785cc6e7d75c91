#pragma once

#include <vector>

#include "engine/distributed/piece_tree.h"
#include "engine/tensor.h"

namespace farfield {

/// The sum of a tensor over the pieces of a batch, in the order of PieceTree.
class TreeSum {
 public:
  /// Adds the tensor of the next piece, which this may overwrite; undefined counts as zeros.
  /// Returns the sum of all pieces after the last piece (undefined if all were undefined), else an
  /// undefined tensor.
  Tensor add(const PieceTree& tree, int64_t piece, Tensor x);

 private:
  std::vector<Tensor> stack_;
};

}  // namespace farfield
