#pragma once

#include <functional>

#include "apps/hub/architecture.h"
#include "apps/hub/weight_files.h"
#include "apps/run/checkpoint.h"

namespace farfield::hub {

/// The tensors of our model of that architecture, in float32 under our names, from files. Each goes
/// straight to its place, so that no tensor is in memory twice.
/// `progress`, if any, is called with the share that is done.
/// Throws    IoError, naming the file and the tensor: for a missing tensor, another shape, a number
///           that is not finite, and for a tensor that the model has no place for
run::NamedTensors convert(const Architecture& architecture, WeightFiles& files,
                          const std::function<void(double)>& progress = {});

}  // namespace farfield::hub
