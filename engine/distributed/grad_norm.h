#pragma once

#include <vector>

#include "engine/distributed/process_grid.h"
#include "engine/parameter.h"

namespace farfield {

/// The gradients of one process of a tensor-parallel group: of its shards, and of the parameters
/// that all processes have.
struct GradientParts {
  std::vector<Tensor> shards, whole;
};

/// L2 norm of the gradients of a model, in all processes. The shards of all processes of the tensor
/// group count, and common parameters count once; the processes of the data group have different
/// elements of each. float64 [], the same bits in all.
Tensor device_grad_norm(const GradientParts& own, const ProcessGrid& processes,
                        const Device& device);
/// The same where the data group is one process.
Tensor device_grad_norm(const std::vector<Parameter>& parameters, const Group& tensor);

}  // namespace farfield
