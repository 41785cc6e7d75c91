#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

struct AdamWStep {
  double lr, beta1, beta2, eps, weight_decay;
  double grad_scale;  ///< the gradient is multiplied by it first (clipping)
  int64_t t;          ///< number of this update in the bias corrections, 1 for the first
};
/// One update of param and its moments m, v in place, one pass over memory. All float32 (or all
/// float64).
void adamw_step(Cpu, const AdamWStep& step, const Tensor& grad, Tensor& param, Tensor& m,
                Tensor& v);
void adamw_step(Cuda, const AdamWStep& step, const Tensor& grad, Tensor& param, Tensor& m,
                Tensor& v);

}  // namespace farfield
