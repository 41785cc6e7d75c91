#pragma once

#include <map>
#include <string>

#include "apps/hub/weight_names.h"
#include "apps/run/checkpoint.h"
#include "engine/dtype.h"
#include "layers/config.h"

namespace farfield::hub {

struct WeightExport {
  DType dtype = DType::f32;
  int64_t n_position = 0;  ///< rows of learned positions
  std::string where;       ///< the run, for messages
};

/// The tensors of a model under the names and in the layouts of a family: the inverse of convert().
/// Each of ours is let go as soon as it is converted, so that no more than one is in memory twice.
/// Throws    IoError, naming the run and the tensor, for one that is missing, of another shape, or
///           that the family has no place for
run::NamedTensors export_weights(const ModelConfig& model, const WeightNames& names,
                                 std::map<std::string, Tensor> ours, const WeightExport& how);

}  // namespace farfield::hub
