#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/checkpoint.h"
#include "apps/run_config.h"
#include "apps/run_folder.h"
#include "layers/transformer.h"

namespace farfield::apps {

/// A trained model with its run.
struct LoadedRun {
  RunFolder folder;
  RunConfig config;
  TrainState state;
  Device device;
  Transformer model;
};

/// The model of a run at its newest checkpoint, or at that of a step. IoError for a damaged or
/// missing checkpoint; ConfigError when the checkpoint is of another configuration than
/// config.conf.
LoadedRun load_run(const std::string& path, std::optional<int64_t> step = {},
                   const std::optional<std::string>& device = {});

}  // namespace farfield::apps
