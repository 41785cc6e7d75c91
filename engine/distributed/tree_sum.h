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
  /// For the next piece, which closes a sum: what its tensor is to be added to first, for the
  /// caller to add in place; add() then does not. Undefined, and left to add(): others hold it, or
  /// there is none.
  Tensor take_left();

 private:
  std::vector<Tensor> stack_;
  bool is_left_taken_ = false;
};

}  // namespace farfield
