#pragma once

#include "engine/optim.h"
#include "engine/tensor.h"

namespace farfield::test {

/// An update as training makes it, for a loss that is finite. Returns the norm of the gradients
/// before they are clipped.
inline double clipped_step(Optimizer& optimizer, double lr, double max_norm = 0) {
  const Tensor norm = device_grad_norm(optimizer.parameters());
  optimizer.step(lr, {.loss = Tensor::zeros({}, DType::f64, norm.device()),
                      .grad_norm = norm,
                      .max_norm = max_norm});
  return norm.item();
}

}  // namespace farfield::test
