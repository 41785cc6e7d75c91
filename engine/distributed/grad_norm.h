#pragma once

#include <vector>

#include "engine/distributed/group.h"
#include "engine/parameter.h"

namespace farfield {

/// device_grad_norm() of a model that the processes of a group have together, in all of them:
/// shards count in each, what all have counts once. float64 [], the same bits in all.
Tensor device_grad_norm(const std::vector<Parameter>& parameters, const Group& tensor);

}  // namespace farfield
