#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

// The table has rows first .. first + V - 1 of a larger one.

/// y[i, :] = table[ids[i] - first, :], or 0 where there is no such row; table may be wider
/// (float32) than y (bfloat16).
void embedding_forward(Cpu, const Tensor& table, int64_t first, const Tensor& ids, Tensor& y);
void embedding_forward(Cuda, const Tensor& table, int64_t first, const Tensor& ids, Tensor& y);
/// dtable[v, :] = sum of dy[i, :] over i with ids[i] = first + v, in the order of i; dtable is
/// zeroed first.
void embedding_backward(Cpu, int64_t first, const Tensor& ids, const Tensor& dy, Tensor& dtable);
void embedding_backward(Cuda, int64_t first, const Tensor& ids, const Tensor& dy, Tensor& dtable);

}  // namespace farfield
