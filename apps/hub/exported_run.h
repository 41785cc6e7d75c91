#pragma once

#include <map>
#include <string>

#include "apps/run/source_run.h"
#include "engine/tensor.h"
#include "layers/config.h"

namespace farfield::hub {

/// What of a run is exported.
struct ExportedRun {
  ModelConfig model;  ///< with the rows of vocabulary that the weights have, and without adapters
  std::map<std::string, Tensor> weights;  ///< whole: with the adapters added
};

/// IoError for a damaged run.
ExportedRun read_exported(const run::SourceRun& source);

}  // namespace farfield::hub
