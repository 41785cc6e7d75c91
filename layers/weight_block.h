#pragma once

#include "engine/tensor.h"

namespace farfield {

/// One block of memory for many weights. Whole huge pages lie in it, which weights of a few MiB
/// each do not fill: generation, which reads every weight for every token, reads faster.
class WeightBlock {
 public:
  /// For `n_weight` tensors with `numel` elements together.
  WeightBlock(int64_t numel, int64_t n_weight, DType dtype, const Device& device);

  /// Moves a tensor into the block, rounded to its dtype: the memory of the tensor itself is freed
  /// if it has no other owner.
  void take(Tensor& weight);

 private:
  Tensor block_;
  int64_t used_ = 0;  // elements
};

}  // namespace farfield
