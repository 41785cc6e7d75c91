#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// Rows are the last dimension. y = exp(x - max) / sum, or, when log, y = x - max - log(sum).
void softmax_forward(Cpu, const Tensor& x, bool log, Tensor& y);
void softmax_forward(Cuda, const Tensor& x, bool log, Tensor& y);
void softmax_backward(Cpu, const Tensor& y, const Tensor& dy, bool log, Tensor& dx);
void softmax_backward(Cuda, const Tensor& y, const Tensor& dy, bool log, Tensor& dx);

}  // namespace farfield
