#pragma once

#include <vector>

#include "engine/distributed/process_grid.h"
#include "engine/parameter.h"

namespace farfield {

/// The gradients that a process has of a model which a group of processes have together: of its
/// shards, and of what all of them have.
struct GradientParts {
  std::vector<Tensor> shards, whole;
};

/// L2 norm of the gradients of a model, in all processes: shards count in each of the tensor group,
/// what all of it have once; of each, the processes of the data group have different elements.
/// float64 [], the same bits in all.
Tensor device_grad_norm(const GradientParts& own, const ProcessGrid& processes,
                        const Device& device);
/// The same where the data group is one process.
Tensor device_grad_norm(const std::vector<Parameter>& parameters, const Group& tensor);

}  // namespace farfield
