#pragma once

#include "engine/device.h"
#include "engine/tensor.h"

namespace farfield {

// The table has rows first .. first + V - 1 of a larger one of n_row.

/// y[i, :] = table[ids[i] - first, :], or 0 if another process has that row; table may be wider
/// (float32) than y (bfloat16). An id outside of n_row gives NaN on cuda, where reading ids back
/// would stall the device; on the CPU the caller has checked the ids.
void embedding_forward(Cpu, const Tensor& table, int64_t first, int64_t n_row, const Tensor& ids,
                       Tensor& y);
void embedding_forward(Cuda, const Tensor& table, int64_t first, int64_t n_row, const Tensor& ids,
                       Tensor& y);
/// dtable[v, :] = sum of dy[i, :] over i with ids[i] = first + v, in the order of i; dtable is
/// zeroed first. Other ids are left out.
void embedding_backward(Cpu, int64_t first, const Tensor& ids, const Tensor& dy, Tensor& dtable);
void embedding_backward(Cuda, int64_t first, const Tensor& ids, const Tensor& dy, Tensor& dtable);

}  // namespace farfield
