#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

/// y[i, :] = table[ids[i], :]; table may be wider (float32) than y (bfloat16).
void embedding_forward(Cpu, const Tensor& table, const Tensor& ids, Tensor& y);
void embedding_forward(Cuda, const Tensor& table, const Tensor& ids, Tensor& y);
/// dtable[v, :] = sum of dy[i, :] over i with ids[i] = v, in the order of i; dtable is zeroed
/// first.
void embedding_backward(Cpu, const Tensor& ids, const Tensor& dy, Tensor& dtable);
void embedding_backward(Cuda, const Tensor& ids, const Tensor& dy, Tensor& dtable);

}  // namespace farfield
