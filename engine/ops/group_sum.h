#pragma once

#include "engine/distributed/group.h"
#include "engine/tensor.h"

namespace farfield {

// The ops of tensor parallelism, between a tensor that all processes of a group have and tensors of
// which each has its own part: a product split by columns begins with group_copy(), a product split
// by rows ends with group_sum(). With one process both return x itself. All processes call them in
// the same order, in the backward pass too.
//
// Sums by Group::sum() have the same bits in every process; bfloat16 is summed in float32 and
// rounded once. DTypeError for int32.
// Source    Shoeybi et al. 2019, "Megatron-LM", arXiv:1909.08053, section 3: operators f and g

/// Returns x, which is equal in all processes; its gradient is the sum over the processes.
Tensor group_copy(const Tensor& x, const Group& group);
/// The sum of all x, in all processes; each x has the gradient of the sum, which must be equal in
/// all of them.
Tensor group_sum(const Tensor& x, const Group& group);

}  // namespace farfield
