#pragma once

#include <vector>

#include "engine/distributed/piece_tree.h"
#include "engine/tensor.h"

namespace farfield {

/// The sum of a tensor over the pieces of a batch, in the order of PieceTree.
class TreeSum {
 public:
  /// Of the next piece, from 0 on, which this may overwrite; undefined: none, zeros where another
  /// piece has some. The sum of all after the last piece (undefined when no piece had any), else
  /// undefined.
  Tensor add(const PieceTree& tree, int64_t piece, Tensor x);

 private:
  std::vector<Tensor> stack_;
};

}  // namespace farfield
