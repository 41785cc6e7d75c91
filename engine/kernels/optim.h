#pragma once

#include <span>

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

struct AdamWStep {
  double lr, beta1, beta2, eps, weight_decay;
  double grad_scale;  ///< the gradient is multiplied by it first (clipping)
  int64_t t;          ///< number of this update in the bias corrections, 1 for the first
};
/// One parameter of an update: all four of one shape and dtype, float32 or float64.
struct AdamWTarget {
  Tensor grad, param;
  Tensor m, v;  ///< running means of the gradient and of its square
  bool decay;   ///< weight_decay applies
};
/// One update in place of every target, one pass over memory. The whole list is one piece of work,
/// so that hundreds of small tensors do not cost hundreds of thread wake-ups.
void adamw_step(Cpu, const AdamWStep& step, std::span<AdamWTarget> targets);
void adamw_step(Cuda, const AdamWStep& step, std::span<AdamWTarget> targets);

/// Sum of squares of all elements of all tensors (float32 or float64), in float64, in the order of
/// the list.
double sum_squares(Cpu, std::span<const Tensor> tensors);
double sum_squares(Cuda, std::span<const Tensor> tensors);

}  // namespace farfield
